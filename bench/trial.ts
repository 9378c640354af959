/**
 * A trial is one measurement in its own process, with its own memory, processor time and event loop. The messages are sent to
 * it, so it reads no data file.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Line } from "./data.js";
import type { EmbedderName } from "./embedders.js";
import type { LagReport } from "./lag.js";
import type { PipelineReport } from "./pipeline.js";

/** A number of callers with one add at a time each, or one caller with addBatch of 100 rounds. */
export type Way = number | "batch";

/** Adds all lines as fast as possible, until they are embedded and written. */
export interface PipelineTrial {
  readonly kind: "pipeline";
  readonly embedder: EmbedderName;
  /** `buffer.enabled`. */
  readonly buffers: boolean;
  readonly way: Way;
}

/** Adds the lines one by one at random times, at an average rate. */
export interface LagTrial {
  readonly kind: "lag";
  readonly embedder: EmbedderName;
  readonly perSecond: number;
}

export type Trial = PipelineTrial | LagTrial;

/** The input of the process. */
export interface Assignment {
  readonly trial: Trial;
  readonly path: string;
  readonly lines: readonly Line[];
}

interface Reports {
  readonly pipeline: PipelineReport;
  readonly lag: LagReport;
}

/** Flags of this process (`--cpu-prof`) are passed to the trial's. */
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
