import { invalid, wrongType } from "./refusal.js";

const EXPECTED = "epoch milliseconds, a Date or an ISO 8601 string";
const HINT = 'for example 1767225600000, new Date(), "2026-01-01" or "2026-01-01T09:30:00+01:00"';
const MS_MAX = 8.64e15;
const ISO = /^((?:\d{4}|[+-]\d{6})-\d\d-(\d\d))(T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?$/;

/**
 * Parses a point in time into epoch milliseconds. Nothing is guessed. A date that is not in the calendar is rejected,
 * and so is a time of day without an offset, which would mean another moment on another machine. A date alone means
 * midnight UTC.
 */
export function parseInstant(value: unknown, where: string): number {
  if (typeof value === "number") return fromNumber(value, where);
  if (typeof value === "string") return fromText(value, where);
  const ms = timeOf(value);
  if (ms === undefined) throw wrongType(where, EXPECTED, value, HINT);
  if (Number.isNaN(ms)) throw invalid(where, "is an invalid Date", HINT);
  return ms;
}

/**
 * The time of a Date of any realm; NaN if it is invalid; undefined if the value is not a Date. Only Date's own method
 * can tell.
 */
function timeOf(value: unknown): number | undefined {
  try {
    return Date.prototype.getTime.call(value);
  } catch {
    return undefined;
  }
}

function fromNumber(ms: number, where: string): number {
  if (!Number.isInteger(ms)) throw invalid(where, `must be whole epoch milliseconds, got ${ms}`, "use Math.round");
  if (Math.abs(ms) > MS_MAX) throw invalid(where, "is outside the range of dates", "is it in milliseconds?");
  return ms + 0; // turns -0 into 0
}

function fromText(text: string, where: string): number {
  const found = ISO.exec(text);
  if (!found) throw invalid(where, `must be ${EXPECTED}, got a string of another form`, HINT);
  const [, date, day, time, offset] = found;
  if (time && !offset) throw invalid(where, "has a time of day without an offset", "end it with Z or, say, +02:00");
  const ms = Date.parse(text);
  // Date.parse reads February 30th as March 2nd.
  if (Number.isNaN(ms) || new Date(`${date}T00:00:00Z`).getUTCDate() !== Number(day)) {
    throw invalid(where, "is not a moment of the calendar", HINT);
  }
  return ms;
}
