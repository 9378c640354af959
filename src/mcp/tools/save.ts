/** memory_save: saves one thing. What someone said becomes a message of the session; anything else becomes knowledge. */
import { z } from "zod";
import { HoldfastError } from "../../errors.js";
import { AddedSchema, RoleSchema } from "../../schemas/item.js";
import { time } from "../time.js";
import { tool } from "../tool.js";

export const saveTool = tool({
  name: "memory_save",
  title: "Save to memory",
  description:
    "Keep one thing that will matter later: a preference, decision, correction, event or result. Call it as soon as you learn it. Write a full sentence that makes sense by itself, with names instead of pronouns. When it returns, the memory is durable and searchable. Do not save secrets, what only matters now, or what memory_search already finds; correct a wrong memory by saving the right one and forgetting the old.",
  access: "write",
  input: z.strictObject({
    content: z.string().min(1),
    role: RoleSchema.exactOptional().meta({ description: "Who said it, for a message saved verbatim" }),
    occurredAt: time("When it happened. Default: now"),
    expiresAt: time("When to forget it"),
  }),
  output: AddedSchema.pick({ ids: true }),
  async run({ session }, { role, ...item }) {
    if (item.expiresAt !== undefined && Date.parse(item.expiresAt) <= Date.now()) {
      throw new HoldfastError("invalid_input", "`expiresAt` is in the past", {
        hint: "omit it, or pass a later time",
      });
    }
    const added =
      role === undefined
        ? await session.addItems([{ kind: "knowledge", ...item }])
        : await session.add([{ role, ...item }]);
    const { ids } = added;
    return { data: { ids }, text: `Saved as ${ids.join(", ")}.` };
  },
});
