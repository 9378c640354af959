/**
 * The group `openai`: `search` and `fetch` in the form that ChatGPT connectors and deep research expect. The text of each
 * answer is JSON, too; stored text appears only inside its strings.
 */
import { z } from "zod";
import { shortened } from "../../context/fence.js";
import { HoldfastError } from "../../errors.js";
import { leading } from "../../graphemes.js";
import { escapedJson } from "../../rendered.js";
import { QuerySchema } from "../../schemas/query.js";
import { Name } from "../../schemas/scope.js";
import { estimateTokens } from "../../tokens/estimate.js";
import type { Item } from "../../types.js";
import { AnswerBuilder, excerpt } from "../answer-builder.js";
import { type Answer, type ToolGroup, tool } from "../tool.js";

const RESULTS = 20;
const TITLE_UNITS = 80;

const Found = z.object({ id: z.string(), title: z.string(), url: z.string() });

const search = tool({
  name: "search",
  title: "Search",
  description: "Search memories. Returns ids, titles and URLs; use fetch to read one.",
  access: "read",
  isIdempotent: true,
  input: z.strictObject({ query: QuerySchema.shape.query }),
  output: z.object({ results: z.array(Found) }),
  async run({ session, maxTokens }, { query }) {
    const answer = new AnswerBuilder<z.output<typeof Found>>(maxTokens);
    for (const hit of await session.query(query, { topK: RESULTS })) {
      const found = { id: hit.id, title: titleOf(hit), url: urlOf(hit.id) };
      if (!answer.add("", found)) break;
    }
    return asJson({ results: answer.shown });
  },
});

const fetch = tool({
  name: "fetch",
  title: "Fetch",
  description: "Read one memory by the id that search returned.",
  access: "read",
  isIdempotent: true,
  input: z.strictObject({ id: Name }),
  output: Found.extend({ text: z.string(), metadata: z.record(z.string(), z.unknown()) }),
  async run({ session, maxTokens }, { id }) {
    const [item] = await session.get([id]);
    if (!item) throw new HoldfastError("not_found", "this memory does not exist (any more)", { hint: "search again" });
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

const asJson = <T>(data: T): Answer<T> => ({ data, text: escapedJson(JSON.stringify(data)) });

/** For citations. */
const urlOf = (id: string): string => `memory://items/${encodeURIComponent(id)}`;

/** The start of the text, on one line. */
function titleOf({ content }: Item): string {
  return shortened(leading(content, TITLE_UNITS * 4), TITLE_UNITS);
}
