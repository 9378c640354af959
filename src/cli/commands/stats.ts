/** holdfast stats: statistics, targets and health. */
import type { Component } from "../../buffers/components.js";
import type { Condition, Target } from "../../buffers/health.js";
import type { ServiceStats } from "../../stats.js";
import { type Definition, flag } from "../definition.js";
import type { Column } from "../output/rows.js";
import { type Part, type Style, styled } from "../output/style.js";

interface StatsFlags {
  readonly targets?: boolean;
}

export const statsCommand: Definition = {
  name: "stats",
  purpose: "Print statistics: what is stored, what is waiting, and health.",
  about:
    "For a file it prints what is stored in it; rates and latencies come from a server (--url). With --targets it prints the targets for latency, memory and health beside what was measured since the server started; a target with fewer than 20 samples has no data.",
  options: [flag("--targets", "every target, what was measured, and whether it is met")],
  examples: [
    "holdfast stats",
    "holdfast stats --url http://127.0.0.1:8000 --json",
    "holdfast stats --url http://127.0.0.1:8000 --targets",
  ],
  async run(call) {
    const { printer } = call;
    const { targets } = call.flags<StatsFlags>();
    await call.withMemory({}, async (memory) => {
      const stats = await memory.handle.stats();
      if (printer.json) return printer.value(targets ? stats.targets : stats);
      if (!targets) return printer.table([{ name: "WHAT" }, { name: "VALUE" }], rowsOf(stats));
      await printer.table(TARGET_COLUMNS, stats.targets.map(targetRow));
      const isIdle = stats.targets.every(({ area, condition }) => area !== "latency" || condition === "no data");
      if (isIdle)
        printer.note("nothing was measured here yet; a server that is in use has latencies and rates (--url)");
    });
  },
};

function rowsOf({ store, health, meaning, query, latencies }: ServiceStats): readonly (readonly Part[])[] {
  const { components, ...indicators } = health;
  return [
    ["items", whole(store.items)],
    ["users", whole(store.users)],
    ["agents", whole(store.agents)],
    ["teams", whole(store.teams)],
    ["sessions", whole(store.sessions)],
    ["waiting to be embedded", whole(store.pending)],
    ["could not be embedded", whole(store.parked)],
    ["file", `${(store.bytes / MIB).toFixed(1)} MiB`],
    ["embedding model", meaning ? "on" : "not loaded"],
    ["queries answered", whole(latencies.query.count)],
    ["cached answers", whole(query.answers.entries)],
    ...Object.entries(indicators).map(([name, { condition, value, unit }]): readonly Part[] => [
      spaced(name),
      judged(condition, condition === "no data" ? condition : `${condition}: ${rounded(value)} ${unit}`),
    ]),
    ...Object.entries(components).map(([name, component]) => [COMPONENTS[name] ?? name, stateOf(component)]),
  ];
}

const COMPONENTS: { readonly [name: string]: string } = {
  write: "WriteBuffer",
  round: "RoundBuffer",
  hybrid: "HybridBuffer",
  query: "QueryBuffer",
  speculative: "SpeculativeBuffer",
  index: "external index",
};

function stateOf({ state, reason }: Component): Part {
  if (reason === undefined) return state;
  return styled(state === "failed" ? "red" : "yellow", `${state}: ${reason}`);
}

const TARGET_COLUMNS: readonly Column[] = [
  { name: "AREA" },
  { name: "WHAT" },
  { name: "TARGET" },
  { name: "MEASURED", align: "right" },
  { name: "VERDICT" },
  { name: "ALERT" },
];

function targetRow({ area, name, goal, condition, value, unit }: Target): readonly Part[] {
  const { from, to, alert } = goal;
  const shown = (number: number) => amount(number, unit);
  const isMinimum = to === undefined;
  return [
    area,
    spaced(name),
    isMinimum ? `over ${shown(from ?? 0)}` : `${from === undefined ? "at most" : `${from} to`} ${shown(to)}`,
    condition === "no data" ? "" : shown(value),
    judged(condition, condition),
    alert === undefined ? "" : `${isMinimum ? "under" : "over"} ${shown(alert)}`,
  ];
}

/** A number with its unit, as short as a table needs it. */
function amount(value: number, unit: string): string {
  if (unit === "bytes") return value < MIB ? `${rounded(value / 1024)} KiB` : `${rounded(value / MIB)} MiB`;
  if (unit.startsWith("share")) return `${Math.round(value * 100)} %`;
  return unit === "per minute" ? `${value}/min` : `${rounded(value)} ms`;
}

const STYLES: { readonly [condition in Condition]?: Style } = { healthy: "green", warning: "yellow", alert: "red" };

function judged(condition: Condition, text: string): Part {
  const style = STYLES[condition];
  return style ? styled(style, text) : text;
}

const MIB = 1024 * 1024;
const whole = (count: number): string => count.toLocaleString("en");
const rounded = (value: number): string => String(Math.round(value * 100) / 100);
const spaced = (name: string): string => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
