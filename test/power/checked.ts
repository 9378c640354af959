/** The messages between a run and its checkers. */
import { join } from "node:path";
import type { Finding } from "../crash/finding.js";

/** What became of one image. */
export interface Checked {
  readonly image: number;
  /** What was not durable: "names", or paths of files. */
  readonly touched: readonly string[];
  readonly findings: readonly Finding[];
}

/** The cuts of a run, and those of the same run on a disk that ignores syncs. */
export const cutsFile = (folder: string, ignoresSyncs: boolean): string =>
  join(folder, ignoresSyncs ? "control.json" : "cuts.json");
