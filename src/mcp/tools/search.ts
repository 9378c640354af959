/** memory_search: the start of the best hits, with ids. `memory_get` reads the rest. */
import { z } from "zod";
import { HoldfastError } from "../../errors.js";
import { HitSchema, QuerySchema } from "../../schemas/query.js";
import { type Hit, ROLES } from "../../types.js";
import { AnswerBuilder, excerpt } from "../answer-builder.js";
import { itemPiece } from "../rendering.js";
import { ShownItem, shownItem } from "../shown-item.js";
import { time } from "../time.js";
import { tool } from "../tool.js";

const LIMIT = 10;
const LIMIT_MAX = 50;
/** Per hit. */
const EXCERPT_TOKENS = 100;

const ShownHit = ShownItem.extend({
  score: HitSchema.shape.score,
  more: z.boolean().exactOptional().meta({ description: "The text continues" }),
});

export const searchTool = tool({
  name: "memory_search",
  title: "Search memory",
  description:
    "Find what was remembered, by words and by meaning, best first. Use it before you answer anything that earlier conversations may have settled, and before you save. Ask in a full sentence, with names and dates. Returns ids with the start of each text; memory_get reads the rest. The nearest memories are returned even if they are unrelated: judge by their text. If none answers, say so instead of guessing, and do not rephrase the question more than once.",
  access: "read",
  isIdempotent: true,
  input: z.strictObject({
    query: QuerySchema.shape.query.min(1),
    limit: z
      .int()
      .min(1)
      .max(LIMIT_MAX)
      .exactOptional()
      .meta({ description: `Default: ${LIMIT}` }),
    role: z.enum(ROLES).exactOptional().meta({ description: "Only messages of this role" }),
    from: time("Not before"),
    to: time("Before"),
    within: z.enum(["space", "session"]).exactOptional(),
  }),
  output: z.object({
    hits: z.array(ShownHit),
    omitted: z.int().exactOptional().meta({ description: "Hits that did not fit" }),
    partial: z.boolean().exactOptional(),
  }),
  async run({ session, maxTokens }, { query, limit = LIMIT, ...filter }) {
    if (filter.within === "session" && session.scope.session === undefined) {
      throw new HoldfastError("invalid_input", "the scope has no session", {
        hint: "omit `within`",
      });
    }
    const found = await session.query(query, { topK: limit, ...filter });
    const answer = new AnswerBuilder<z.output<typeof ShownHit>>(maxTokens);
    for (const hit of found) {
      const { text, next } = excerpt(hit.content, EXCERPT_TOKENS);
      const isCut = next !== undefined;
      if (!answer.add(itemPiece(hit, text, isCut ? "more: memory_get" : undefined), shownOf(hit, text, isCut))) break;
    }
    const omitted = found.length - answer.shown.length;
    const notes = [
      ...(found.length === 0 ? ["Nothing found."] : []),
      ...(omitted > 0 ? [`${omitted} more did not fit: ask a more specific question.`] : []),
      ...(found.degraded === undefined ? [] : ["Searched by words only: the embedding model is unavailable."]),
      ...(found.partial ? ["Partial: the newest memories were searched by words only."] : []),
    ];
    const data = { hits: answer.shown, ...(omitted > 0 && { omitted }), ...(found.partial && { partial: true }) };
    return { data, text: answer.text(...notes) };
  },
});

const shownOf = (hit: Hit, content: string, more: boolean) => ({
  ...shownItem(hit, content),
  score: Math.round(hit.score * 1000) / 1000,
  ...(more && { more }),
});
