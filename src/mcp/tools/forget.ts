/** memory_forget: permanently deletes memories. */
import { z } from "zod";
import { ReceiptSchema } from "../../schemas/item.js";
import { Name } from "../../schemas/scope.js";
import { listed } from "../rendering.js";
import { tool } from "../tool.js";

const IDS_MAX = 100;

export const forgetTool = tool({
  name: "memory_forget",
  title: "Forget memories",
  description:
    "Permanently delete memories by id: text, search index and vectors. Use it when the user asks you to forget something, or after you saved a correction. Read them with memory_get first. This cannot be undone.",
  access: "write",
  isDestructive: true,
  isIdempotent: true,
  input: z.strictObject({ ids: z.array(Name).min(1).max(IDS_MAX) }),
  output: ReceiptSchema.pick({ items: true, facts: true, missing: true, purged: true }),
  async run({ session }, { ids }) {
    const { items, facts, missing, purged } = await session.delete(ids);
    const parts = [
      `Forgotten: ${items} ${items === 1 ? "memory" : "memories"}${facts > 0 ? `, ${facts} facts` : ""}.`,
      ...(missing.length > 0 ? [listed("Not found:", missing)] : []),
    ];
    return { data: { items, facts, missing, purged }, text: parts.join("\n") };
  },
});
