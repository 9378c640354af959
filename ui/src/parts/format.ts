/** Numbers, times and names as people read them. */
import type { SpaceRef } from "holdfast/client";

const COUNT = new Intl.NumberFormat("en");
const SHORT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const MOMENT = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });

export const count = (value: number): string => COUNT.format(value);
export const short = (value: number): string => (value < 10_000 ? COUNT.format(value) : SHORT.format(value));
export const moment = (at: number): string => MOMENT.format(at);
export const plural = (value: number, noun: string): string => `${count(value)} ${noun}${value === 1 ? "" : "s"}`;

const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB"];
export function bytes(value: number): string {
  const power = value < 1024 ? 0 : Math.min(Math.floor(Math.log2(value) / 10), UNITS.length - 1);
  const scaled = value / 1024 ** power;
  return `${power === 0 || scaled >= 100 ? Math.round(scaled) : scaled.toFixed(1)} ${UNITS[power]}`;
}

export function ms(value: number): string {
  if (value >= 1_000) return `${(value / 1000).toFixed(1)} s`;
  return value >= 100 ? `${Math.round(value)} ms` : `${Number(value.toFixed(value < 10 ? 2 : 1))} ms`;
}

const DURATIONS = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
] as const;

/** A span of time in the largest unit that divides it: 5 min. */
export function duration(value: number): string {
  const [size, unit] = DURATIONS.find(([one]) => value >= one && value % one === 0) ?? [1000, "s"];
  return `${COUNT.format(value / size)} ${unit}`;
}

const STEPS = [
  [60, "s"],
  [60, "min"],
  [24, "h"],
  [365, "d"],
  [Infinity, "y"],
] as const;

/** How long ago, in one unit: 5 min. */
export function age(at: number, now = Date.now()): string {
  let value = Math.max(0, (now - at) / 1000);
  for (const [size, unit] of STEPS) {
    if (value < size) return `${Math.floor(value)} ${unit}`;
    value /= size;
  }
  return "";
}

/** How long something takes or waits, in one unit: 250 ms, 30 min. */
export const lasting = (spanMs: number): string => (spanMs < 1_000 ? ms(spanMs) : age(0, spanMs));

export const spaceName = (space: SpaceRef): string => {
  const [kind = "", name = ""] = Object.entries(space)[0] ?? [];
  return `${kind} ${name}`;
};
