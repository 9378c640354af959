/** Formats the report. */
import { MODE_NAMES } from "./mode.js";
import type { Report, Verdict } from "./targets.js";
import type { Latency, Spread } from "./timings.js";

const rate = (value: number): string => Math.round(value).toLocaleString("en");
const ms = (value: number): string => value.toFixed(2);
const mebibytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(0)} MiB`;
const spreadOf = ({ median, min, max }: Spread, show = ms): string => `${show(median)} (${show(min)} – ${show(max)})`;
const latencyOf = ({ p50, p95, p99 }: Latency): string => [p50, p95, p99].map(ms).join(" / ");

const NEIGHBOUR_NAMES = {
  alone: "alone",
  batches: "beside addBatch of 10,000 rounds",
  rounds: "beside one add of 10,000 messages",
} as const;

export function printReport(report: Report, verdicts: readonly Verdict[]): string {
  const { machine, data, rounds, footprint, blocks, growth, fairness, embedding } = report;
  const sizes = Object.keys(growth.raw.microseconds);
  return [
    `${machine.cpu}, ${machine.cores} cores · ${machine.os} · Node ${machine.node} · ${machine.driver}, SQLite ${machine.sqlite}`,
    `write and sync of 4 KiB: ${ms(machine.syncMs)} ms · load: ${ms(machine.load)} · messages: ${data}`,
    "",
    `Messages per second: median (min – max) of ${rounds} rounds of raw, Holdfast, raw, Holdfast …`,
    table(
      ["", "messages", "raw SQLite", "Holdfast", "ratio", "commits", "bare SQLite", "ratio"],
      blocks.map(({ mode, messages, raw, holdfast, bare, ratio, bareRatio }) => [
        MODE_NAMES[mode],
        rate(messages),
        spreadOf(raw.messagesPerSecond, rate),
        spreadOf(holdfast.messagesPerSecond, rate),
        spreadOf(ratio),
        rate(holdfast.commits),
        rate(bare.messagesPerSecond.median),
        ms(bareRatio.median),
      ]),
    ),
    "Raw: the statements of Holdfast's writer, replayed. Bare: of those only the row, its words, BEGIN and COMMIT.",
    "",
    "Milliseconds of one call (raw: of one transaction), and between turns of the event loop (1 ms of it is the probe's own)",
    table(
      ["", "raw p50 / p95 / p99", "Holdfast p50 / p95 / p99", "loop p50 / p99 / max"],
      blocks.map(({ mode, raw, holdfast, loopDelay }) => [
        MODE_NAMES[mode],
        latencyOf(raw.latency),
        latencyOf(holdfast.latency),
        [loopDelay.p50, loopDelay.p99, loopDelay.max].map(ms).join(" / "),
      ]),
    ),
    "With the embedding model, relative to without: the same messages in alternating blocks",
    table(
      [
        "",
        "messages",
        "without p50 / p95 / p99",
        "with p50 / p95 / p99",
        "p50 ratio",
        "messages/s ratio",
        "bytes/message without",
        "with",
      ],
      embedding.map(({ mode, messages, without, embedding: model, p50, perSecond, bytesPerMessage: bytes }) => [
        MODE_NAMES[mode],
        rate(messages),
        latencyOf(without.latency),
        latencyOf(model.latency),
        spreadOf(p50),
        spreadOf(perSecond),
        rate(bytes.without),
        rate(bytes.embedding),
      ]),
    ),
    "Growth: microseconds per message around each size of the file (100 per transaction)",
    table(
      ["", ...sizes.map((size) => rate(Number(size))), "factor"],
      (["raw", "holdfast"] as const).map((side) => [
        side === "raw" ? "raw SQLite" : "Holdfast",
        ...sizes.map((size) => (growth[side].microseconds[size] ?? Number.NaN).toFixed(1)),
        spreadOf(growth[side].factor),
      ]),
    ),
    "Fairness: milliseconds of a single add, and what the neighbour writes meanwhile",
    table(
      ["", "p50 / p95 / p99", "max", "neighbour messages/s", "loop p50 / p99 / max"],
      fairness.map(({ neighbour, single, neighbourMessagesPerSecond, loopDelay }) => [
        NEIGHBOUR_NAMES[neighbour],
        latencyOf(single),
        ms(single.max),
        rate(neighbourMessagesPerSecond),
        [loopDelay.p50, loopDelay.p99, loopDelay.max].map(ms).join(" / "),
      ]),
    ),
    `Footprint of ${rate(footprint.messages)} messages`,
    table(
      ["RSS before", "open", "peak", "after", "bytes/message on disk", "raw's", "of it text"],
      [
        [
          ...[footprint.rss.before, footprint.rss.open, footprint.rss.peak, footprint.rss.after].map(mebibytes),
          rate(footprint.bytesPerMessage.holdfast),
          rate(footprint.bytesPerMessage.raw),
          rate(footprint.textBytesPerMessage),
        ],
      ],
    ),
    "Targets",
    table(
      ["", "target", "measured", ""],
      verdicts.map(({ what, target, measured, pass }) => [what, target, ms(measured), pass ? "PASS" : "MISS"]),
    ),
  ].join("\n");
}

/** Columns are as wide as their widest cell; numbers are aligned right, the first column left. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const print = (line: readonly string[]): string =>
    `  ${line.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join("  ")}`;
  return `${lines.map((line) => print(line).trimEnd()).join("\n")}\n`;
}
