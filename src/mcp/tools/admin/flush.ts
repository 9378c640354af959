/** memory_flush: indexes everything that is waiting. */
import { z } from "zod";
import { FlushReportSchema } from "../../../schemas/report.js";
import { tool } from "../../tool.js";

export const flushTool = tool({
  name: "memory_flush",
  title: "Index waiting items",
  description:
    "Index everything in this session that is still waiting, and wait until it is done. Not needed in normal use: search finds waiting items by words, and soon by meaning.",
  access: "write",
  isIdempotent: true,
  input: z.strictObject({}),
  output: z.object(FlushReportSchema.shape),
  async run({ session }) {
    const report = await session.flush();
    return { data: report, text: `Done. Still waiting: ${report.pending}; could not be indexed: ${report.parked}.` };
  },
});
