/**
 * The group `openai`: `search` and `fetch` in the form that ChatGPT connectors and deep research expect. Each answer is
 * JSON, as text too; stored text stands in its strings and nowhere else.
 */
import { z } from "zod";
import { HoldfastError } from "../../errors.js";
import { leading } from "../../graphemes.js";
import { QuerySchema } from "../../schemas/query.js";
import { Name } from "../../schemas/scope.js";
import { estimateTokens } from "../../tokens/estimate.js";
import type { Item } from "../../types.js";
import { excerpt, Fill } from "../fill.js";
import { type Answer, type ToolGroup, tool } from "../tool.js";

const RESULTS = 20;
const TITLE_UNITS = 80;

const Found = z.object({ id: z.string(), title: z.string(), url: z.string() });

const search = tool({
  name: "search",
  title: "Search",
  description: "Find memories on a question. Returns ids, titles and addresses; fetch has the text of one.",
  access: "read",
  isIdempotent: true,
  input: z.strictObject({ query: QuerySchema.shape.query }),
  output: z.object({ results: z.array(Found) }),
  async run({ session, maxTokens }, { query }) {
    const fill = new Fill<z.output<typeof Found>>(maxTokens);
    for (const hit of await session.query(query, { topK: RESULTS })) {
      const found = { id: hit.id, title: titleOf(hit), url: urlOf(hit.id) };
      if (!fill.add("", found)) break;
    }
    return asJson({ results: fill.shown });
  },
});

const fetch = tool({
  name: "fetch",
  title: "Fetch",
  description: "Read one memory by the id that search gave.",
  access: "read",
  isIdempotent: true,
  input: z.strictObject({ id: Name }),
  output: Found.extend({ text: z.string(), metadata: z.record(z.string(), z.unknown()) }),
  async run({ session, maxTokens }, { id }) {
    const [item] = await session.get([id]);
    if (!item) throw new HoldfastError("not_found", "there is no such memory (any more)", { hint: "search again" });
    const { kind, role, session: name, occurredAt } = item;
    const metadata = {
      kind,
      ...(role !== undefined && { role }),
      ...(name !== undefined && { session: name }),
      occurredAt: new Date(occurredAt).toISOString(),
    };
    const about = { id, title: titleOf(item), url: urlOf(id), metadata: { ...metadata, cutAt: item.content.length } };
    const { text, next } = excerpt(item.content, maxTokens - estimateTokens(JSON.stringify({ ...about, text: "" })));
    return asJson({ ...about, text, metadata: { ...metadata, ...(next !== undefined && { cutAt: next }) } });
  },
});

export const openaiGroup: ToolGroup = { name: "openai", tools: [search, fetch] };

const asJson = <T>(data: T): Answer<T> => ({ data, text: JSON.stringify(data) });

/** What citations point to. */
const urlOf = (id: string): string => `memory://items/${encodeURIComponent(id)}`;

/** The beginning of the text, on one line. */
function titleOf({ content }: Item): string {
  const line = leading(content, TITLE_UNITS * 4)
    .replace(/\s+/g, " ")
    .trim();
  return line.length > TITLE_UNITS ? `${leading(line, TITLE_UNITS)}…` : line;
}
