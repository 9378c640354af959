/** The result of an inspection: a list of checks, each with advice. */
import type { Contents } from "./contents.js";

export const CHECKS = [
  "file",
  "mode",
  "place",
  "disk",
  "format",
  "schema",
  "integrity",
  "references",
  "counts",
  "words",
  "vectors",
  "log",
  "purge",
  "leases",
  "parked",
  "pending",
  "space",
  "model",
  "runtime",
] as const;
/** The names of the checks. */
export type CheckName = (typeof CHECKS)[number];

/** What a check found, and what to do about it. */
export interface Finding {
  /** Whether it is in order. */
  readonly state: "ok" | "warning" | "error";
  /** What was found. Never content. */
  readonly what: string;
  /** What to do about it. */
  readonly todo?: string;
  /** True if `repairFile` can repair it. */
  readonly repairable?: boolean;
}

/** One check of an inspection. */
export interface Check extends Finding {
  /** What was checked. */
  readonly name: CheckName;
}

/** The result of an inspection. */
export interface Diagnosis {
  /** The file that was inspected. */
  readonly path: string;
  /** The worst of all checks. */
  readonly state: Finding["state"];
  /** All checks that were made. */
  readonly checks: readonly Check[];
  /** Statistics; undefined if the file cannot be read or has another version. */
  readonly contents?: Contents;
}

export const ok = (what: string): Finding => ({ state: "ok", what });
export const warning = (what: string, todo: string): Finding => ({ state: "warning", what, todo });
export const error = (what: string, todo: string): Finding => ({ state: "error", what, todo });

/** Marks a finding as repairable by `repairFile`. */
export const repairable = (finding: Finding): Finding => ({ ...finding, repairable: true });

/** Advice for repairable findings. */
export const REPAIR = "repair the file with: holdfast doctor --repair";
export const RESTORE = "stop all processes that use the file and restore a backup";

export const worst = (checks: readonly Finding[]): Finding["state"] =>
  checks.some(({ state }) => state === "error")
    ? "error"
    : checks.some(({ state }) => state === "warning")
      ? "warning"
      : "ok";

/** "1 item", "2 items". */
export const count = (n: number, noun: string, plural = `${noun}s`): string => `${n} ${n === 1 ? noun : plural}`;

/** Formats a number of bytes. */
export function size(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  const power = bytes < 1000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1);
  const value = bytes / 1000 ** power;
  return `${power === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${units[power]}`;
}

/** Formats a duration. */
export function age(ms: number): string {
  if (ms < 60_000) return count(Math.max(0, Math.round(ms / 1000)), "second");
  if (ms < 3_600_000) return count(Math.round(ms / 60_000), "minute");
  if (ms < 172_800_000) return count(Math.round(ms / 3_600_000), "hour");
  return count(Math.round(ms / 86_400_000), "day");
}
