/** Repairing a file: what is safe to do about what the doctor has found. Content is never touched. */
import { type InspectOptions, jobOf } from "./inspect.js";
import { runJob } from "./job.js";
import { leavingNoLog } from "./reading.js";
import type { RepairReport } from "./treatment.js";

/** Inspects the file, mends what can be mended, and inspects it again. Others may use the file meanwhile. */
export function repairFile(options: InspectOptions): Promise<RepairReport> {
  const job = jobOf(options);
  return leavingNoLog(job.path, () => runJob<RepairReport>({ name: "repair", options: job }, options));
}
