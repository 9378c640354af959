/** One measurement of `bench:query` in its own process, with its own memory, threads and event loop. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import type { MadeFile } from "./query-file.js";
import type { FirstReport } from "./query-first.js";
import type { MixedReport } from "./query-mixed.js";
import type { SidesReport } from "./query-sides.js";

export type QueryTrial =
  /** `base`: prefix of the names of the baselines' files. */
  | { readonly kind: "sides"; readonly rounds: number; readonly base: string }
  | { readonly kind: "first"; readonly seed: number }
  | { readonly kind: "mixed" };

interface Reports {
  readonly sides: SidesReport;
  readonly first: FirstReport;
  readonly mixed: MixedReport;
}

/** The input of the process. */
export interface QueryAssignment {
  readonly trial: QueryTrial;
  readonly file: MadeFile;
  /** When the whole run started. */
  readonly begun: number;
}

export async function runQueryTrial<T extends QueryTrial>(
  trial: T,
  file: MadeFile,
  begun: number,
): Promise<Reports[T["kind"]]> {
  const child = fork(fileURLToPath(new URL("./query-process.js", import.meta.url)), { serialization: "advanced" });
  let report: Reports[T["kind"]] | undefined;
  child.on("message", (message) => {
    report = message as Reports[T["kind"]];
  });
  child.send({ trial, file, begun } satisfies QueryAssignment);
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0 || !report) throw new Error(`the trial ${JSON.stringify(trial)} ended with ${code}`);
  return report;
}

/** Prints the current step, with the seconds since the run started. */
export function sayer(begun: number): (section: string) => void {
  return (section) => {
    const seconds = ((Date.now() - begun) / 1000).toFixed(1).padStart(6);
    console.error(`${seconds} s  ${section} (load ${(loadavg()[0] ?? Number.NaN).toFixed(1)})`);
  };
}
