/** Looking at a file: what the doctor says of it. */
import { systemClock } from "../clock.js";
import { NO_MODEL } from "../embedding/choose.js";
import { MODEL_FOLDER, MODEL_NAME } from "../embedding/minilm/choice.js";
import type { Contents } from "./contents.js";
import type { Diagnosis } from "./diagnosis.js";
import type { InspectJob } from "./inspection.js";
import { runJob } from "./job.js";
import type { Watch } from "./progress.js";
import { fileAt, leavingNoLog } from "./reading.js";

export interface InspectOptions extends Watch {
  readonly path: string;
  /** Looks at every byte that can be checked: SQLite's full check, all texts analysed anew, all vectors measured. */
  readonly deep?: boolean;
  /** The embedding model that is configured; left out: the one in the package. "none": words only. */
  readonly model?: string;
  /** Where the files of the package's model lie, if not in the package. */
  readonly modelFolder?: string;
}

/** What a file holds, in numbers, without any check. Others may use the file meanwhile. */
export function fileContents({ path: given, ...watch }: { readonly path: string } & Watch): Promise<Contents> {
  const path = fileAt(given);
  return leavingNoLog(path, () => runJob<Contents>({ name: "contents", options: { path } }, watch));
}

/** Checks a file and what it needs, and changes nothing. Others may use the file meanwhile. */
export function inspectFile(options: InspectOptions): Promise<Diagnosis> {
  const job = jobOf(options);
  return leavingNoLog(job.path, () => runJob<Diagnosis>({ name: "inspect", options: job }, options));
}

export function jobOf({ path, deep, model = MODEL_NAME, modelFolder = MODEL_FOLDER }: InspectOptions): InspectJob {
  const isMeant = model !== NO_MODEL;
  return { path: fileAt(path), deep: deep ?? false, ...(isMeant && { model }), modelFolder, now: systemClock.now() };
}
