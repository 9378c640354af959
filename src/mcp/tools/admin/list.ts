/** memory_list: pages of memories. */
import { z } from "zod";
import { ItemPageSchema, ItemSchema } from "../../../schemas/item.js";
import { ListOptionsSchema } from "../../../schemas/query.js";
import { AnswerBuilder, excerpt } from "../../answer-builder.js";
import { itemPiece } from "../../rendering.js";
import { tool } from "../../tool.js";
import { wholeSpace } from "../../whole-space.js";

const LIMIT = 20;
const LIMIT_MAX = 50;
const EXCERPT_TOKENS = 60;

const Listed = ItemSchema.pick({ id: true, kind: true, content: true, occurredAt: true, version: true });

export const listTool = tool({
  name: "memory_list",
  title: "List memories",
  description:
    "List all memories, newest first: the start of each text, with ids. Use it to review or clean up; use memory_search to find something. `next` is the cursor of the next page.",
  access: "read",
  isIdempotent: true,
  input: z.strictObject({
    session: z.string().exactOptional().meta({ description: "Only this session" }),
    kind: z.enum(["message", "knowledge", "fact", "overflow"]).exactOptional(),
    limit: z
      .int()
      .min(1)
      .max(LIMIT_MAX)
      .exactOptional()
      .meta({ description: `Default: ${LIMIT}` }),
    cursor: ListOptionsSchema.shape.cursor,
  }),
  output: z.object({ items: z.array(Listed), next: ItemPageSchema.shape.next }),
  async run(place, { limit = LIMIT, cursor, ...filter }) {
    const space = wholeSpace(place);
    let page = await space.list({ ...filter, limit, order: "desc", ...(cursor !== undefined && { cursor }) });
    let answer = answerOf(page.items, place.maxTokens);
    // If a page does not fit, a shorter one is read instead, so that its cursor is right.
    if (answer.shown.length < page.items.length) {
      const fits = Math.max(1, answer.shown.length);
      page = await space.list({ ...filter, limit: fits, order: "desc", ...(cursor !== undefined && { cursor }) });
      answer = answerOf(page.items, place.maxTokens);
    }
    const { next } = page;
    const notes = [
      ...(page.items.length === 0 ? ["No memories."] : []),
      ...(next === undefined ? [] : [`More: cursor ${JSON.stringify(next)}`]),
    ];
    return { data: { items: answer.shown, ...(next !== undefined && { next }) }, text: answer.text(...notes) };
  },
});

type ListedItem = z.output<typeof Listed>;

function answerOf(items: readonly (ListedItem & Parameters<typeof itemPiece>[0])[], maxTokens: number) {
  const answer = new AnswerBuilder<ListedItem>(maxTokens);
  for (const item of items) {
    const { id, kind, occurredAt, version } = item;
    const { text, next } = excerpt(item.content, EXCERPT_TOKENS);
    const note = next === undefined ? undefined : "more: memory_get";
    if (!answer.add(itemPiece(item, text, note), { id, kind, content: text, occurredAt, version })) break;
  }
  return answer;
}
