/** Repairs what an inspection found, as far as that is safe. Content is never changed. */
import { type InspectOptions, jobOf } from "./inspect.js";
import { runJob } from "./job.js";
import { leavingNoLog } from "./reading.js";
import type { RepairReport } from "./treatment.js";

/** Inspects the file, repairs what it can, and inspects it again. Other processes may use the file. */
export function repairFile(options: InspectOptions): Promise<RepairReport> {
  const job = jobOf(options);
  return leavingNoLog(job.path, () => runJob<RepairReport>({ name: "repair", options: job }, options));
}
