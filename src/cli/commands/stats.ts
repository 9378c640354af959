/** holdfast stats: statistics and health. */
import type { ServiceStats } from "../../stats.js";
import type { Definition } from "../definition.js";
import type { Part } from "../output/style.js";
import { styled } from "../output/style.js";

export const statsCommand: Definition = {
  name: "stats",
  purpose: "Print statistics: what is stored, what is waiting, and health.",
  about: "For a file it prints what is stored in it; rates and latencies come from a server (--url).",
  examples: ["holdfast stats", "holdfast stats --url http://127.0.0.1:8000 --json"],
  async run(call) {
    const { printer } = call;
    await call.withMemory({}, async (memory) => {
      const stats = await memory.handle.stats();
      if (printer.json) return printer.value(stats);
      return printer.table([{ name: "WHAT" }, { name: "VALUE" }], rowsOf(stats));
    });
  },
};

function rowsOf({ store, health, meaning, query, latencies }: ServiceStats): readonly (readonly Part[])[] {
  const conditions = Object.entries(health).map(([name, { condition, value, unit }]): readonly Part[] => [
    spaced(name),
    condition === "alert" || condition === "warning"
      ? styled("yellow", `${condition}: ${round(value)} ${unit}`)
      : condition === "no data"
        ? condition
        : `${condition}: ${round(value)} ${unit}`,
  ]);
  return [
    ["items", whole(store.items)],
    ["waiting to be embedded", whole(store.pending)],
    ["could not be embedded", whole(store.parked)],
    ["file", `${(store.bytes / 1024 / 1024).toFixed(1)} MiB`],
    ["embedding model", meaning ? "on" : "not loaded"],
    ["queries answered", whole(latencies.query.count)],
    ["cached answers", whole(query.answers.entries)],
    ...conditions,
  ];
}

const whole = (count: number): string => count.toLocaleString("en");
const round = (value: number): string => String(Math.round(value * 100) / 100);
const spaced = (name: string): string => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
