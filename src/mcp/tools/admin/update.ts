/** memory_update: corrects a memory in place. */
import { z } from "zod";
import { ItemEditSchema } from "../../../schemas/item.js";
import { Name } from "../../../schemas/scope.js";
import { time } from "../../time.js";
import { tool } from "../../tool.js";

export const updateTool = tool({
  name: "memory_update",
  title: "Correct a memory",
  description:
    "Change the text or the times of one memory, by id. No later answer contains the old text. Read it with memory_get first and pass its version, so that no other change is overwritten.",
  access: "write",
  isDestructive: true,
  isIdempotent: true,
  input: z.strictObject({
    id: Name,
    content: z.string().min(1).exactOptional(),
    occurredAt: time("When it happened"),
    expiresAt: time("When to forget it"),
    expectVersion: ItemEditSchema.shape.expectVersion,
  }),
  output: z.object({ id: z.string(), version: z.int() }),
  async run({ session }, { id, expectVersion, ...patch }) {
    const version = await session.update(id, patch, expectVersion === undefined ? {} : { expectVersion });
    return { data: { id, version }, text: `Changed: version ${version}.` };
  },
});
