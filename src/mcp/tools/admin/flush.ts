/** memory_flush: has everything that waits indexed now. */
import { z } from "zod";
import { FlushReportSchema } from "../../../schemas/report.js";
import { tool } from "../../tool.js";

export const flushTool = tool({
  name: "memory_flush",
  title: "Index what waits",
  description:
    "Have everything of this session that waits indexed by meaning now, and wait for it. Not needed in normal use: search finds what waits by words, and soon by meaning.",
  access: "write",
  isIdempotent: true,
  input: z.strictObject({}),
  output: z.object(FlushReportSchema.shape),
  async run({ session }) {
    const report = await session.flush();
    return { data: report, text: `Done. Still waiting: ${report.pending}; could not be indexed: ${report.parked}.` };
  },
});
