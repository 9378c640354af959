/** Summarises the runs of `bench:speculation`, judges them and formats the report. */
import type { Machine } from "./machine.js";
import { ASKS, type AskKind } from "./speculation-plan.js";
import { type BackendName, CALL_MS, PREDICTORS, type PredictorName, type Run, type Side } from "./speculation-run.js";
import { table } from "./table.js";
import type { Verdict } from "./targets.js";
import { type Latency, latency, spread } from "./timings.js";

/** Calls of one kind on one side, and relative to the same rounds without speculation. */
export interface CallReport extends Latency {
  readonly calls: number;
  /** Ratios of the pooled quantiles. */
  readonly ratio: Latency;
  /** The median over rounds of each round's ratio of p50s. */
  readonly roundRatio: number;
}

export interface PredictorReport {
  readonly issued: number;
  readonly served: number;
  readonly late: number;
  readonly wasted: number;
  readonly savedMs: number;
  /** The mean over memories, at the end. */
  readonly usefulness: number;
  /** The share of memories in which it was throttled at the end. */
  readonly throttled: number;
}

export interface SideReport {
  readonly side: Side;
  readonly calls: { readonly [what in What]?: CallReport };
  /** Medians over rounds, and ratios to the same round without speculation. */
  readonly loopP99Ms: number;
  readonly loopRatio: number;
  readonly cpuSeconds: number;
  readonly cpuRatio: number;
  readonly predictors: { readonly [name in PredictorName]?: PredictorReport };
  /** Answers, those that differ from the ones without speculation, and those of them that say that they are partial. */
  readonly answers: number;
  readonly differing: number;
  readonly differingPartial: number;
  /** The first complete answers that differ. */
  readonly examples: readonly { readonly call: string; readonly without: string; readonly with: string }[];
}

export interface SettingReport {
  readonly backend: BackendName;
  readonly thinkMs: number;
  /** The first is without speculation. */
  readonly sides: readonly SideReport[];
}

export interface SpeculationReport {
  readonly machine: Machine;
  readonly data: string;
  readonly embedder: string;
  readonly rounds: number;
  readonly turns: number;
  readonly settings: readonly SettingReport[];
}

const WHATS = ["add", "context", "query", ...ASKS] as const;
/** `query`: all questions that follow, of any kind. */
type What = (typeof WHATS)[number];

const EXAMPLES_MAX = 5;
const SLOW_CONTEXT_MAX = 0.3;
const LOCAL_CONTEXT_MAX = 0.7;
const NO_THINKING_MAX = 1.1;
const SIDE_EFFECT_MAX = 1.25;
const WASTED_MAX = 0.5;
const LONG_THINK_MS = 500;

export function summarise(side: Side, rounds: readonly ReadonlyMap<Side, Run>[]): SideReport {
  const pairs = rounds.map((runs) => ({ mine: runs.get(side) as Run, base: runs.get("without") as Run }));
  const calls = WHATS.flatMap((what) => {
    const mine = pairs.flatMap((pair) => timesOf(pair.mine, what));
    if (mine.length === 0) return [];
    const base = latency(pairs.flatMap((pair) => timesOf(pair.base, what)));
    const own = latency(mine);
    const ratio = {
      p50: own.p50 / base.p50,
      p95: own.p95 / base.p95,
      p99: own.p99 / base.p99,
      max: own.max / base.max,
    };
    const ratios = pairs
      .map((pair) => latency(timesOf(pair.mine, what)).p50 / latency(timesOf(pair.base, what)).p50)
      .filter((value) => !Number.isNaN(value));
    return [[what, { calls: mine.length, ...own, ratio, roundRatio: spread(ratios).median }] as const];
  });
  const median = (of: (pair: (typeof pairs)[number]) => number): number => spread(pairs.map(of)).median;
  const differing = pairs.flatMap(({ mine, base }) =>
    mine.answers.flatMap((answer, at) =>
      answer.content === base.answers[at]?.content ? [] : [[answer, base.answers[at]]],
    ),
  );
  const complete = differing.filter((both) => !both.some((answer) => answer?.isPartial));
  return {
    side,
    calls: Object.fromEntries(calls),
    loopP99Ms: median(({ mine }) => mine.loopP99Ms),
    loopRatio: median(({ mine, base }) => mine.loopP99Ms / base.loopP99Ms),
    cpuSeconds: median(({ mine }) => mine.cpuSeconds),
    cpuRatio: median(({ mine, base }) => mine.cpuSeconds / base.cpuSeconds),
    predictors: Object.fromEntries(
      PREDICTORS.flatMap(
        (name) =>
          predictorOf(
            name,
            pairs.map(({ mine }) => mine),
          ) ?? [],
      ).map((one) => [one.name, one]),
    ),
    answers: pairs.reduce((sum, { mine }) => sum + mine.answers.length, 0),
    differing: differing.length,
    differingPartial: differing.length - complete.length,
    examples: complete.slice(0, EXAMPLES_MAX).map(([own, base]) => ({
      call: own?.call ?? "",
      without: base?.content ?? "",
      with: own?.content ?? "",
    })),
  };
}

const timesOf = ({ times }: Run, what: What): readonly number[] =>
  what === "query" ? ASKS.flatMap((ask: AskKind) => times[ask]) : times[what];

function predictorOf(name: PredictorName, runs: readonly Run[]): (PredictorReport & { name: string }) | undefined {
  const all = runs.flatMap(({ predictors }) => predictors.flatMap((one) => one[name] ?? []));
  if (all.length === 0) return undefined;
  const sum = (of: (one: (typeof all)[number]) => number): number => all.reduce((total, one) => total + of(one), 0);
  return {
    name,
    issued: sum(({ issued }) => issued),
    served: sum(({ served }) => served),
    late: sum(({ late }) => late),
    wasted: sum(({ wasted }) => wasted),
    savedMs: sum(({ savedMs }) => savedMs),
    usefulness: sum(({ usefulness }) => usefulness) / all.length,
    throttled: sum(({ isThrottled }) => Number(isThrottled)) / all.length,
  };
}

/** Contexts are judged by the median of the rounds, tails by all calls of all rounds. */
export function judgeSpeculation(settings: readonly SettingReport[]): readonly Verdict[] {
  return settings.flatMap((setting) => {
    const all = setting.sides.find(({ side }) => side === "all");
    if (!all) return [];
    const where = nameOf(setting);
    const { context, query, add } = all.calls;
    const predictors = Object.values(all.predictors);
    const issued = predictors.reduce((sum, one) => sum + one.issued, 0);
    const wasted = predictors.reduce((sum, one) => sum + one.wasted, 0);
    const contextMax = setting.backend === "slow" ? SLOW_CONTEXT_MAX : LOCAL_CONTEXT_MAX;
    return [
      ...(setting.thinkMs >= LONG_THINK_MS ? [atMost(`context p50, ${where}`, contextMax, context?.roundRatio)] : []),
      ...(setting.thinkMs === 0
        ? [
            atMost(`context p50, ${where}`, NO_THINKING_MAX, context?.roundRatio),
            atMost(`query p50, ${where}`, NO_THINKING_MAX, query?.roundRatio),
            atMost(`add p50, ${where}`, NO_THINKING_MAX, add?.roundRatio),
          ]
        : []),
      atMost(`add p99, ${where}`, SIDE_EFFECT_MAX, add?.ratio.p99),
      atMost(`event-loop delay p99, ${where}`, SIDE_EFFECT_MAX, all.loopRatio),
      atMost(`wasted ÷ issued, ${where}`, WASTED_MAX, issued === 0 ? 0 : wasted / issued),
      atMost(`differing complete answers, ${where}`, 0, all.differing - all.differingPartial),
    ];
  });
}

const atMost = (what: string, target: number, measured = Number.NaN): Verdict => ({
  what,
  target: `≤ ${target}`,
  measured,
  pass: measured <= target,
});

const BACKEND_NAMES: { readonly [backend in BackendName]: string } = {
  local: "local file",
  slow: `${CALL_MS} ms a call`,
};
const nameOf = ({ backend, thinkMs }: SettingReport): string => `${BACKEND_NAMES[backend]}, ${thinkMs} ms`;
const number = (value: number | undefined, digits = 2): string => (value === undefined ? "-" : value.toFixed(digits));

export function printSpeculation({ machine, data, embedder, rounds, turns, settings }: SpeculationReport): string {
  return [
    `${machine.cpu}, ${machine.cores} cores · ${machine.os} · Node ${machine.node} · load: ${number(machine.load)}`,
    `${data} · ${embedder} · ${rounds} rounds of ${turns} turns in each loop`,
    "",
    ...settings.flatMap(printSetting),
    "Targets, as ratios to the same calls without speculation",
    table(
      ["", "target", "measured", ""],
      judgeSpeculation(settings).map(({ what, target, measured, pass }) => [
        what,
        target,
        number(measured),
        pass ? "met" : "missed",
      ]),
    ),
  ].join("\n");
}

function printSetting(setting: SettingReport): readonly string[] {
  const [without, ...sides] = setting.sides;
  return [
    `${nameOf(setting)} of think time: milliseconds of a call; ratio of p50s: median of rounds (pooled)`,
    table(
      ["", "calls", "without p50 / p95 / p99", "with p50 / p95 / p99", "p50 ratio", "p95 ratio", "p99 ratio"],
      sides.flatMap(({ side, calls }) =>
        WHATS.flatMap((what) => {
          const [base, own] = [without?.calls[what], calls[what]];
          if (!base || !own) return [];
          const { ratio, roundRatio } = own;
          return [
            [
              `${side}: ${what}`,
              String(own.calls),
              [base.p50, base.p95, base.p99].map((ms) => number(ms)).join(" / "),
              [own.p50, own.p95, own.p99].map((ms) => number(ms)).join(" / "),
              `${number(roundRatio)} (${number(ratio.p50)})`,
              number(ratio.p95),
              number(ratio.p99),
            ],
          ];
        }),
      ),
    ),
    table(
      ["", "loop p99 ms without", "with", "ratio", "CPU s without", "with", "ratio", "answers", "differing", "partial"],
      sides.map((one) => [
        one.side,
        number(without?.loopP99Ms),
        number(one.loopP99Ms),
        number(one.loopRatio),
        number(without?.cpuSeconds),
        number(one.cpuSeconds),
        number(one.cpuRatio),
        String(one.answers),
        String(one.differing),
        String(one.differingPartial),
      ]),
    ),
    table(
      ["", "issued", "served", "late", "wasted", "saved ms", "usefulness", "throttled"],
      sides.flatMap(({ side, predictors }) =>
        Object.entries(predictors).map(([name, one]) => [
          side === name ? name : `${side}: ${name}`,
          ...[one.issued, one.served, one.late, one.wasted, Math.round(one.savedMs)].map(String),
          number(one.usefulness),
          number(one.throttled),
        ]),
      ),
    ),
    ...sides.flatMap(({ side, examples }) =>
      examples.map(({ call }) => `${side}: another answer to ${call.slice(0, 100)}`),
    ),
  ];
}
