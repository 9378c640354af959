/**
 * A trial is one measurement in a process of its own, so that its memory, its processor time and its event loop are
 * nobody else's. The messages are sent to it: it reads no data file.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Line } from "./data.js";
import type { EmbedderName } from "./embedders.js";
import type { LagReport } from "./lag.js";
import type { PipelineReport } from "./pipeline.js";

/** So many callers with one add at a time each, or one caller with addBatch of 100 rounds. */
export type Way = number | "batch";

/** Adds all lines as fast as it goes, until they are embedded and written. */
export interface PipelineTrial {
  readonly kind: "pipeline";
  readonly embedder: EmbedderName;
  /** `buffer.enabled`. */
  readonly buffers: boolean;
  readonly way: Way;
}

/** Adds the lines one by one at random moments, so many per second on average. */
export interface LagTrial {
  readonly kind: "lag";
  readonly embedder: EmbedderName;
  readonly perSecond: number;
}

export type Trial = PipelineTrial | LagTrial;

/** What the process is given. */
export interface Assignment {
  readonly trial: Trial;
  readonly path: string;
  readonly lines: readonly Line[];
}

interface Reports {
  readonly pipeline: PipelineReport;
  readonly lag: LagReport;
}

/** Flags given to this process (`--cpu-prof`) are given to the trial's. */
export async function runTrial<T extends Trial>(
  trial: T,
  path: string,
  lines: readonly Line[],
): Promise<Reports[T["kind"]]> {
  const child = fork(fileURLToPath(new URL("./trial-process.js", import.meta.url)), {
    serialization: "advanced",
  });
  let report: Reports[T["kind"]] | undefined;
  child.on("message", (message) => {
    report = message as Reports[T["kind"]];
  });
  child.send({ trial, path, lines } satisfies Assignment);
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0 || !report) throw new Error(`the trial ${JSON.stringify(trial)} ended with ${code}`);
  return report;
}
