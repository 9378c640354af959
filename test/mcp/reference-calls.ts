/** Random calls of the nine tools: few names, so that they meet, and texts of every kind. */
import fc from "fast-check";

export interface ToolCall {
  readonly tool: string;
  readonly args: object;
}

const NAMES = [
  "ada",
  "Ada",
  "tea",
  "",
  " ",
  "works_at",
  "日本",
  "👩‍👩‍👧",
  "e\u0301",
  "\u00e9",
  "İ",
  "__proto__",
  "a\nb\u2028c",
];
/** NUL and halves of surrogate pairs, which the engine keeps in no text of its own. */
const BROKEN = ["\u0000", "\ud800", "\udc00", "\ufffd"];

const name = fc.constantFrom(...NAMES, ...BROKEN);
const text = fc.oneof(name, fc.string({ unit: "binary", maxLength: 8 }));
const few = <T>(one: fc.Arbitrary<T>) => fc.array(one, { maxLength: 4 });
const texts = few(text);
const relation = fc.record({ from: name, to: name, relationType: fc.constantFrom("knows", "likes", "", "\u0000") });
const entity = fc.record({ name, entityType: text, observations: texts });
const of = (tool: string, args: { readonly [key: string]: fc.Arbitrary<unknown> }): fc.Arbitrary<ToolCall> =>
  fc.record(args).map((given) => ({ tool, args: given }));

const call = fc.oneof(
  { weight: 5, arbitrary: of("create_entities", { entities: few(entity) }) },
  { weight: 4, arbitrary: of("create_relations", { relations: few(relation) }) },
  {
    weight: 4,
    arbitrary: of("add_observations", { observations: few(fc.record({ entityName: name, contents: texts })) }),
  },
  { weight: 1, arbitrary: of("delete_entities", { entityNames: fc.array(name, { maxLength: 2 }) }) },
  {
    weight: 2,
    arbitrary: of("delete_observations", { deletions: few(fc.record({ entityName: name, observations: texts })) }),
  },
  { weight: 1, arbitrary: of("delete_relations", { relations: few(relation) }) },
  { weight: 1, arbitrary: of("search_nodes", { query: text }) },
  { weight: 1, arbitrary: of("open_nodes", { names: few(name) }) },
  { weight: 1, arbitrary: of("read_graph", {}) },
);

/** The last call reads all that the others have left. */
export const anyCalls: fc.Arbitrary<readonly ToolCall[]> = fc
  .array(call, { minLength: 5, maxLength: 20 })
  .map((calls) => [...calls, { tool: "read_graph", args: {} }]);
