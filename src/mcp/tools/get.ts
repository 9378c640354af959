/** memory_get: full texts by id. A long one is read in pieces. */
import { z } from "zod";
import { HoldfastError } from "../../errors.js";
import { ItemSchema } from "../../schemas/item.js";
import { Name } from "../../schemas/scope.js";
import { estimateTokens } from "../../tokens/estimate.js";
import type { Item } from "../../types.js";
import { AnswerBuilder, costOf, excerpt } from "../answer-builder.js";
import { itemPiece, listed } from "../rendering.js";
import { ShownItem, shownItem } from "../shown-item.js";
import { tool } from "../tool.js";

const IDS_MAX = 20;

const Shown = ShownItem.extend({ version: ItemSchema.shape.version, next: z.int().exactOptional() });

export const getTool = tool({
  name: "memory_get",
  title: "Read memories",
  description:
    "Read the full text of memories by the ids that memory_search returned. A text too long for one answer comes with `next`: call again with that id only and `from` set to it. Ids that do not exist (any more) are listed as missing.",
  access: "read",
  isIdempotent: true,
  input: z.strictObject({
    ids: z.array(Name).min(1).max(IDS_MAX),
    from: z.int().min(0).exactOptional().meta({ description: "Offset at which to continue a long text" }),
  }),
  output: z.object({
    items: z.array(Shown),
    missing: z.array(z.string()).exactOptional(),
    omitted: z.array(z.string()).exactOptional().meta({ description: "Did not fit: request these separately" }),
  }),
  async run({ session, maxTokens }, { ids, from = 0 }) {
    if (from > 0 && ids.length > 1) {
      throw new HoldfastError("invalid_input", "`from` needs exactly one id", { hint: "request that id only" });
    }
    const found = await session.get(ids);
    const known = new Set(found.map(({ id }) => id));
    const missing = ids.filter((id) => !known.has(id));
    // Ids may be listed a second time, as missing or omitted.
    const answer = new AnswerBuilder<z.output<typeof Shown>>(maxTokens - estimateTokens(JSON.stringify(ids)));
    const omitted: string[] = [];
    for (const item of found) {
      const end = item.content.length;
      const around = costOf(itemPiece(item, "", goesOn(end)), shownOf(item, "", end));
      const { text, next } = excerpt(item.content, answer.left - around, from);
      const note = next === undefined ? undefined : goesOn(next);
      const isWhole = next === undefined || answer.isEmpty; // only the first item may be cut
      if (!isWhole || !answer.add(itemPiece(item, text, note), shownOf(item, text, next))) omitted.push(item.id);
    }
    const past = found.filter(({ content }) => from > 0 && from >= content.length);
    const notes = [
      ...past.map(({ content }) => `The text ends at ${content.length}, before ${from}.`),
      ...(missing.length > 0 ? [listed("Missing (use memory_search to find ids):", missing)] : []),
      ...(omitted.length > 0 ? [listed("Did not fit, request these separately:", omitted)] : []),
    ];
    const data = {
      items: answer.shown,
      ...(missing.length > 0 && { missing }),
      ...(omitted.length > 0 && { omitted }),
    };
    return { data, text: answer.text(...notes) };
  },
});

const goesOn = (next: number): string => `continues: from ${next}`;

const shownOf = (item: Item, content: string, next: number | undefined) => ({
  ...shownItem(item, content),
  version: item.version,
  ...(next !== undefined && { next }),
});
