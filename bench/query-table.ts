/** Formats the report of `bench:query`. */
import { ADDS_PER_SECOND, QUESTIONS_PER_SECOND } from "./query-mixed.js";
import type { SideName } from "./query-sides.js";
import { type FileReport, firstMsOf, nameOf, type QueryReport, ratioOf, sideOf } from "./query-targets.js";
import { table } from "./table.js";
import type { Verdict } from "./targets.js";
import { type Latency, spread } from "./timings.js";

const SIDE_NAMES: { readonly [side in SideName]: string } = {
  cached: "query, asked again",
  cold: "query, cold",
  coldEmbedding: "query, cold, with MiniLM's embedding",
  embedding: "MiniLM's embedding alone",
  words: "words arm",
  fts5: "FTS5, bm25() and a join",
  vectors: "vectors arm",
  brute: "JavaScript over f32",
  vecMetadata: "sqlite-vec, metadata column",
  vecPartition: "sqlite-vec, partition key",
  bandwidth: "reading as many bytes as int8 has",
};
/** Which side is shown relative to which. */
const RIVALS: { readonly [side in SideName]?: SideName } = {
  fts5: "words",
  brute: "vectors",
  vecMetadata: "vectors",
  vecPartition: "vectors",
  bandwidth: "vectors",
};

const count = (value: number): string => Math.round(value).toLocaleString("en");
const ms = (value: number): string => value.toFixed(value < 1 ? 3 : value < 100 ? 2 : 0);
const mebibytes = (bytes: number): string => (bytes / 1024 / 1024).toFixed(0);
const latencyOf = ({ p50, p95, p99 }: Latency): string => [p50, p95, p99].map(ms).join(" / ");

export function printQueryReport(report: QueryReport, verdicts: readonly Verdict[]): string {
  const { machine, files, mixed, rounds } = report;
  return [
    `${machine.cpu}, ${machine.cores} cores · ${machine.os} · Node ${machine.node} · ${machine.driver}, SQLite ${machine.sqlite} · load ${machine.load.toFixed(2)}`,
    "Generated messages; vectors that are clustered but mean nothing (384 numbers, as MiniLM's). The system's cache holds the files.",
    "Words arm: 128 candidates, as a query wants them; FTS5: 10, with their text. Vectors: 10 items, or 10 pieces of sqlite-vec.",
    "",
    ...files.map((file) => sides(file, rounds)),
    firsts(files),
    ...(mixed ? [mixing(mixed)] : []),
    "Targets",
    table(
      ["", "target", "measured", ""],
      verdicts.map(({ what, target, measured, pass }) => [what, target, ms(measured), pass ? "PASS" : "MISS"]),
    ),
  ].join("\n");
}

function sides(file: FileReport, rounds: number): string {
  const { pieces, shape, bytes, sides } = file;
  const rows = (Object.keys(SIDE_NAMES) as SideName[]).flatMap((side) => {
    const measured = sideOf(file, side);
    if (!measured) return [];
    const ours = RIVALS[side];
    const ratio = ours ? `${ratioOf(file, ours, side).toFixed(2)}` : "";
    return [[SIDE_NAMES[side], count(measured.calls), latencyOf(measured), ms(measured.max), ratio]];
  });
  const { firstOfUser, partial } = sides;
  if (firstOfUser) rows.push(["query, cold, the first of a user", "", latencyOf(firstOfUser), ms(firstOfUser.max), ""]);
  return [
    `${nameOf(file)}: ${count(shape.messages)} messages, ${count(pieces)} vectors, ${mebibytes(bytes)} MiB; milliseconds of a call, ${rounds} rounds by turns${partial > 0 ? `; ${partial} cold answers were partial` : ""}`,
    table(["", "calls", "p50 / p95 / p99", "max", "Holdfast's arm ÷ this, p50"], rows),
  ].join("\n");
}

function firsts(files: readonly FileReport[]): string {
  const rows = files.map((file) => {
    const { first } = file;
    const median = (value: (report: (typeof first)[number]) => number): number => spread(first.map(value)).median;
    const sizes = [
      median(({ rss }) => rss.before),
      median(({ rss }) => rss.open - rss.before),
      median(({ rss }) => rss.asked - rss.before),
    ];
    return [
      nameOf(file),
      ms(median(({ openMs }) => openMs)),
      ms(firstMsOf(file)),
      `${first.filter(({ partial }) => partial).length} of ${first.length}`,
      ms(median(({ completeMs }) => completeMs)),
      ...sizes.map(mebibytes),
    ];
  });
  const head = [
    "",
    "open ms",
    "first ms",
    "partial",
    "complete ms",
    "MiB before",
    "more when open",
    "more after 200 questions",
  ];
  return [
    "A fresh process (medians): openMemory, its first question, until an answer is complete, resident MiB",
    table(head, rows),
  ].join("\n");
}

function mixing(mixed: NonNullable<QueryReport["mixed"]>): string {
  const { loopDelay, query, add, questions, refused, partial, messages } = mixed;
  const row = [
    count(questions),
    count(refused),
    count(partial),
    latencyOf(query),
    latencyOf(add),
    [loopDelay.p50, loopDelay.p99, loopDelay.max].map(ms).join(" / "),
  ];
  const head = [
    "",
    "answered",
    "not asked",
    "partial",
    "query p50 / p95 / p99",
    "add p50 / p95 / p99",
    "loop p50 / p99 / max",
  ];
  return [
    `${QUESTIONS_PER_SECOND} questions/s and ${ADDS_PER_SECOND} adds/s, ${messages / 1000} k messages of one user, MiniLM embeds; ms (1 ms of the loop's is the probe's own)`,
    table(head, [["", ...row]]),
  ].join("\n");
}
