/** Parsers of flag values. They convert text to types; the engine validates ranges. */
import { InvalidArgumentError } from "commander";
import { HoldfastError } from "../errors.js";
import type { Scalar } from "../types.js";
import { counted } from "./output/counted.js";

const DURATION = /^(\d{1,9})(s|m|h|d|w|y)$/;
const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000, y: 31_536_000_000 } as const;
export const TIME_FORM = 'a date ("2026-11-15"), a time ("2026-11-15T09:30:00Z"), or a span such as 90m, 12h, 30d';

export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
}

/** As `wholeNumber`, for an argument. */
export function wholeArgument(text: string, name: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new HoldfastError("invalid_input", `the ${name} must be a whole number`, { hint: "for example 3" });
}

export function share(text: string): number {
  const number = Number(text);
  if (text.trim() === "" || !(number >= 0 && number <= 1)) {
    throw new InvalidArgumentError("It must be a number from 0 to 1.");
  }
  return number;
}

/** A span in milliseconds. */
export function spanOf(text: string): number {
  const ms = spanMs(text);
  if (ms !== undefined && ms > 0) return ms;
  throw new HoldfastError("invalid_input", "the span must be a number and a unit", {
    hint: "for example 90m, 12h, 30d, 4w or 1y",
  });
}

/** A span in its largest whole unit: "30 days". */
export function spanText(ms: number): string {
  const [unit, name] = NAMES.find(([one]) => ms % UNIT_MS[one] === 0) ?? ["s", "second"];
  return counted(ms / UNIT_MS[unit], name);
}

const NAMES = [
  ["y", "year"],
  ["w", "week"],
  ["d", "day"],
  ["h", "hour"],
  ["m", "minute"],
] as const;

/** A time, or a span before now. */
export const moment = (text: string): string | number => momentFrom(text, -1);
/** A time, or a span from now. */
export const futureMoment = (text: string): string | number => momentFrom(text, 1);

function momentFrom(text: string, direction: 1 | -1): string | number {
  const ms = spanMs(text);
  if (ms !== undefined) return Date.now() + direction * ms;
  if (!/^[+-]?\d{4,6}-\d\d-\d\d/.test(text)) throw new InvalidArgumentError(`It must be ${TIME_FORM}.`);
  return text;
}

/** Undefined if it is not a span. */
function spanMs(text: string): number | undefined {
  const [, count, unit] = DURATION.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
}

/**
 * For a repeatable `key=value`. A value that is a number, true, false or null in JSON matches both that and its text; in
 * quotes it matches the text only. Values of the same key are alternatives.
 */
export function metadataFilter(text: string, before: MetadataFilter = {}): MetadataFilter {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("It must be key=value, such as topic=travel.");
  const [key, value] = [text.slice(0, at), text.slice(at + 1)];
  const json = parsed(value);
  const isScalar = ["string", "number", "boolean"].includes(typeof json) || json === null;
  const wanted = !isScalar ? [value] : typeof json === "string" ? [json] : [value, json as Scalar];
  return { ...before, [key]: [...(before[key] ?? []), ...wanted] };
}

export type MetadataFilter = { readonly [key: string]: readonly Scalar[] };

export function jsonObject(text: string): { readonly [key: string]: unknown } {
  const value = parsed(text);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as { [key: string]: unknown };
  throw new InvalidArgumentError(`It must be a JSON object, such as '{"topic":"travel"}'.`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the caller reports that it is not an object
  }
}

/** For repeatable flags. */
export const gathered = (text: string, before: readonly string[] | undefined): readonly string[] => [
  ...(before ?? []),
  text,
];
