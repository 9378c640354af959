/** Formats the report of `bench:index`. */
import { EMBEDDER_NAMES } from "./embedders.js";
import type { LagReport } from "./lag.js";
import type { Machine } from "./machine.js";
import type { PipelineReport } from "./pipeline.js";
import { table } from "./table.js";
import type { Latency } from "./timings.js";
import type { PipelineTrial, Way } from "./trial.js";

export interface TrialResult extends Omit<PipelineTrial, "kind"> {
  /** One per repetition. */
  readonly reports: readonly PipelineReport[];
}

export interface IndexReport {
  readonly machine: Machine;
  readonly data: string;
  readonly pipeline: readonly TrialResult[];
  readonly lag: readonly LagReport[];
  readonly buffers: readonly TrialResult[];
}

const FREE_PER_SECOND_MIN = 5_000;
const LOOP_DELAY_MS_MAX = 20;

const rate = (value: number): string => Math.round(value).toLocaleString("en");
const ms = (value: number): string => value.toFixed(1);
const mebibytes = (bytes: number): string => (bytes / 1024 / 1024).toFixed(0);
const latencyOf = ({ p50, p95, p99 }: Latency): string => [p50, p95, p99].map(ms).join(" / ");
const wayOf = (way: Way): string => (way === "batch" ? "addBatch of 100" : way === 1 ? "1 caller" : `${way} callers`);

export function printIndexReport({ machine, data, pipeline, lag, buffers }: IndexReport): string {
  return [
    `${machine.cpu}, ${machine.cores} cores · ${machine.os} · Node ${machine.node} · ${machine.driver}, SQLite ${machine.sqlite}`,
    `write and sync of 4 KiB: ${machine.syncMs.toFixed(2)} ms · load: ${machine.load.toFixed(2)} · messages: ${data}`,
    "",
    ...(pipeline.length > 0 ? [speed(pipeline), footprint(pipeline)] : []),
    ...(lag.length > 0 ? [lags(lag)] : []),
    ...(buffers.length > 0 ? [combining(buffers)] : []),
    ...(pipeline.length > 0 ? [verdicts(pipeline)] : []),
  ].join("\n");
}

/** The fastest repetition: other load on the machine can only slow it down. */
function best({ reports }: TrialResult): PipelineReport {
  const [fastest] = [...reports].sort((a, b) => b.messagesPerSecond - a.messagesPerSecond);
  if (!fastest) throw new Error("a trial was not run");
  return fastest;
}

function spreadOf({ reports }: TrialResult): string {
  if (reports.length < 2) return "";
  const rates = reports.map(({ messagesPerSecond }) => messagesPerSecond);
  return `${rate(Math.min(...rates))} – ${rate(Math.max(...rates))}`;
}

function speed(results: readonly TrialResult[]): string {
  const rows = results.map((result) => {
    const { messages, messagesPerSecond, textsPerMessage, loopDelay, cpuSeconds, rss, perThousand } = best(result);
    const { transactions, embeddingCalls } = perThousand;
    return [
      `${EMBEDDER_NAMES[result.embedder]}, ${wayOf(result.way)}`,
      rate(messages),
      rate(messagesPerSecond),
      spreadOf(result),
      textsPerMessage.toFixed(2),
      [loopDelay.p50, loopDelay.p99, loopDelay.max].map(ms).join(" / "),
      cpuSeconds.toFixed(1),
      mebibytes(rss.peak),
      `${ms(transactions.messages)} + ${ms(transactions.vectors)}`,
      ms(embeddingCalls),
    ];
  });
  const head = ["", "messages", "per s", "spread", "texts", "loop p50 / p99 / max", "CPU s", "peak MiB"];
  return [
    "From the first add until all is embedded and written (the best repetition; per 1,000 messages: transactions of",
    "messages + of vectors and claims, calls of the embedder; texts: per message)",
    table([...head, "transactions", "calls"], rows),
  ].join("\n");
}

function footprint(results: readonly TrialResult[]): string {
  const rows = results
    .filter(({ way }) => way !== "batch")
    .map((result) => {
      const { messages, warmUp, loadMs, rss } = best(result);
      const sizes = [rss.start, rss.open, rss.loaded, rss.end, rss.peak].map(mebibytes);
      return [EMBEDDER_NAMES[result.embedder], ...sizes, rate(warmUp + messages), rate(loadMs)];
    });
  const head = ["", "start", "open", "model loaded", "all written", "peak", "messages", "load ms"];
  return ["Resident MiB of a process", table(head, rows)].join("\n");
}

function lags(reports: readonly LagReport[]): string {
  const rows = reports.map(({ perSecond, messages, words, meaning, transfer, flush, loopDelay, cpu }) => [
    `${perSecond} messages/s`,
    rate(messages),
    latencyOf(words),
    latencyOf(meaning),
    ms(meaning.max),
    latencyOf(transfer),
    latencyOf(flush),
    ms(loopDelay.p99),
    `${(cpu * 100).toFixed(0)} %`,
  ]);
  const head = ["", "messages", "by words p50 / p95 / p99", "by meaning p50 / p95 / p99", "max"];
  const buffers = ["transfer p50 / p95 / p99", "flush p50 / p95 / p99", "loop p99", "CPU"];
  return [`Milliseconds until a message can be found, ${EMBEDDER_NAMES.node}`, table([...head, ...buffers], rows)].join(
    "\n",
  );
}

function combining(results: readonly TrialResult[]): string {
  const rows = results.map((result) => {
    const { messages, messagesPerSecond, call, perThousand } = best(result);
    const { transactions, embeddingCalls, requests } = perThousand;
    return [
      `${EMBEDDER_NAMES[result.embedder]}, ${wayOf(result.way)}, buffers ${result.buffers ? "on" : "off"}`,
      rate(messages),
      rate(messagesPerSecond),
      `${rate(transactions.messages)} + ${rate(transactions.vectors)}`,
      rate(embeddingCalls),
      requests === undefined ? "" : rate(requests),
      latencyOf(call),
    ];
  });
  const head = ["", "messages", "per s", "transactions", "calls", "requests", "ms of a call p50 / p95 / p99"];
  return ["What the buffers combine (per 1,000 messages)", table(head, rows)].join("\n");
}

function verdicts(results: readonly TrialResult[]): string {
  const rows = results.flatMap((result) => {
    const { messagesPerSecond, loopDelay } = best(result);
    const name = `${EMBEDDER_NAMES[result.embedder]}, ${wayOf(result.way)}`;
    const judged = (what: string, target: string, value: number, pass: boolean) => [
      `${what}, ${name}`,
      target,
      ms(value),
      pass ? "PASS" : "MISS",
    ];
    const isFast = messagesPerSecond >= FREE_PER_SECOND_MIN;
    const isSmooth = loopDelay.p99 <= LOOP_DELAY_MS_MAX;
    return [
      ...(result.embedder === "free"
        ? [judged("messages per second", `≥ ${rate(FREE_PER_SECOND_MIN)}`, messagesPerSecond, isFast)]
        : []),
      judged("event-loop delay p99 (ms)", `≤ ${LOOP_DELAY_MS_MAX}`, loopDelay.p99, isSmooth),
    ];
  });
  return ["Targets", table(["", "target", "measured", ""], rows)].join("\n");
}
