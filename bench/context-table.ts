/** Formats the report of `bench:context`. */
import { TURNS_PER_EDIT } from "./context-carried.js";
import { type EvidenceRow, scoreOf } from "./context-evidence.js";
import type { Given, TurnRow } from "./context-replay.js";
import type { RecallData } from "./recall-data.js";
import { table } from "./table.js";
import { latency } from "./timings.js";

/** The answers to all questions, asked in one of the two ways. */
export interface Asked {
  readonly where: string;
  readonly budget: number;
  readonly rows: readonly EvidenceRow[];
}

export interface ContextReport {
  readonly folder: string;
  readonly data: RecallData;
  readonly budget: number;
  readonly turns: readonly TurnRow[];
  readonly changes: number;
  readonly partial: number;
  readonly asked: readonly Asked[];
  /** True if vectors came from a file; times then exclude embedding. */
  readonly isKept: boolean;
  readonly load: number;
}

const whole = (value: number): string => Math.round(value).toLocaleString("en");
const percent = (value: number): string => (100 * value).toFixed(1);
const ms = (value: number): string => value.toFixed(1);

export function printContext(report: ContextReport): string {
  const { folder, data, budget, turns, asked } = report;
  const conversations = new Set(data.turns.map(({ conversation }) => conversation)).size;
  return [
    `${folder}: ${conversations} conversations, ${whole(turns.length)} turns, ${data.questions.length} questions · load ${report.load.toFixed(2)}`,
    `Each conversation is a user. Each speaker has a block that is written anew every ${TURNS_PER_EDIT} turns, and a pinned fact; another`,
    "pinned fact is superseded with each session. Before a turn is added, its text asks for a context; a session's window",
    `is empty at first. The counter is the default, gpt-4o-mini's.${report.partial > 0 ? ` PARTIAL: ${report.partial} contexts.` : ""}`,
    "",
    `Tokens per turn, budget ${whole(budget)}: mean (p95)`,
    table(
      ["", "with the ledger", "without (fresh)", "ledger saves"],
      (["prefix", "tail", "total"] as const).map((part) => tokenRow(part, turns)),
    ),
    stability(report),
    "",
    "Evidence turns that stand whole in the context, per cent of the questions: any, all; and share of the turns",
    table(
      ["asked", "budget", "n", "any", "all", "share", "tokens"],
      asked.map(({ where, budget: max, rows }) => {
        const { n, any, all, recall, tokens } = scoreOf(rows);
        return [where, whole(max), String(n), percent(any), percent(all), percent(recall), whole(tokens)];
      }),
    ),
    `Milliseconds of context()${report.isKept ? ", vectors of texts and questions being kept: without embedding" : ""}`,
    table(
      ["", "calls", "p50", "p95", "max"],
      [
        times(
          "replayed, with the ledger",
          turns.map((row) => row.ms),
        ),
        ...asked.map(({ where, budget: max, rows }) =>
          times(
            `${where}, ${whole(max)}`,
            rows.map((row) => row.ms),
          ),
        ),
      ],
    ),
  ].join("\n");
}

function tokenRow(part: "prefix" | "tail" | "total", turns: readonly TurnRow[]): string[] {
  const show = (of: (row: TurnRow) => Given): string => {
    const values = turns.map((row) => of(row)[part]);
    return `${whole(mean(values))} (${whole(latency(values).p95)})`;
  };
  const [ledger, fresh] = [mean(turns.map((row) => row.ledger[part])), mean(turns.map((row) => row.fresh[part]))];
  const saved = fresh > 0 ? `${percent(1 - ledger / fresh)} %` : "–";
  return [part, show((row) => row.ledger), show((row) => row.fresh), saved];
}

function stability({ turns, changes }: ContextReport): string {
  const sum = (of: (bytes: TurnRow["bytes"]) => number): number => turns.reduce((all, { bytes }) => all + of(bytes), 0);
  const [all, prefix, stable] = [sum((bytes) => bytes.all), sum((bytes) => bytes.prefix), sum((bytes) => bytes.stable)];
  const same = turns.filter(({ bytes }) => bytes.stable === bytes.prefix).length;
  return [
    `Prefix: ${percent(stable / prefix)} % of its bytes are those of the call before, ${percent(stable / all)} % of all bytes given;`,
    `the same in ${whole(same)} of ${whole(turns.length)} calls; ${whole(changes)} writes to blocks and pinned facts.`,
  ].join(" ");
}

function times(what: string, calls: readonly number[]): string[] {
  const { p50, p95, max } = latency(calls);
  return [what, whole(calls.length), ms(p50), ms(p95), ms(max)];
}

const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
