/** Inspects a file, for `holdfast doctor`. */
import { systemClock } from "../clock.js";
import { NO_MODEL } from "../embedding/choose.js";
import { MODEL_NAME, packagedModel } from "../embedding/minilm/choice.js";
import type { Contents } from "./contents.js";
import type { Diagnosis } from "./diagnosis.js";
import type { InspectJob } from "./inspection.js";
import { runJob } from "./job.js";
import type { Watch } from "./progress.js";
import { fileAt, leavingNoLog } from "./reading.js";

/** What to inspect, and how thoroughly. */
export interface InspectOptions extends Watch {
  /** The memory's file. */
  readonly path: string;
  /** Checks everything: SQLite's full check, the analysis of all texts, the numbers of all vectors. */
  readonly deep?: boolean;
  /** The configured embedding model. Default: the model in the package. "none": words only. */
  readonly model?: string;
  /** Folder of the package's model, if it is not in the package. */
  readonly modelFolder?: string;
}

/** Statistics of a file, without any check. Other processes may use the file. */
export function fileContents({ path: given, ...watch }: { readonly path: string } & Watch): Promise<Contents> {
  const path = fileAt(given);
  return leavingNoLog(path, () => runJob<Contents>({ name: "contents", options: { path } }, watch));
}

/** Checks a file and its model without changing anything. Other processes may use the file. */
export function inspectFile(options: InspectOptions): Promise<Diagnosis> {
  const job = jobOf(options);
  return leavingNoLog(job.path, () => runJob<Diagnosis>({ name: "inspect", options: job }, options));
}

export function jobOf({ path, deep, model = MODEL_NAME, modelFolder = packagedModel() }: InspectOptions): InspectJob {
  const isMeant = model !== NO_MODEL;
  return { path: fileAt(path), deep: deep ?? false, ...(isMeant && { model }), modelFolder, now: systemClock.now() };
}
