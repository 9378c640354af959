/** holdfast stats: what is there, and how the service that answers is doing. */
import type { ServiceStats } from "../../reports.js";
import type { Definition } from "../definition.js";
import type { Part } from "../output/style.js";
import { styled } from "../output/style.js";

export const statsCommand: Definition = {
  name: "stats",
  purpose: "Print what is stored, what waits, and how it is doing.",
  about: "Of a file it tells what the file knows; rates and latencies are those of a server (--url).",
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
    ["commits", whole(store.commit)],
    ["file", `${(store.bytes / 1024 / 1024).toFixed(1)} MiB`],
    ["embedding model", meaning ? "on" : "not loaded"],
    ["questions answered", whole(latencies.query.count)],
    ["answers kept", whole(query.answers.entries)],
    ...conditions,
  ];
}

const whole = (count: number): string => count.toLocaleString("en");
const round = (value: number): string => String(Math.round(value * 100) / 100);
const spaced = (name: string): string => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
