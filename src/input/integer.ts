import { invalid, wrongType } from "./refusal.js";

/** Parses a whole number in a range, both ends included. */
export function parseInteger(value: unknown, where: string, min: number, max: number): number {
  const expected = `a whole number from ${min} to ${max}`;
  if (typeof value !== "number") throw wrongType(where, expected, value);
  if (!Number.isInteger(value) || value < min || value > max) throw invalid(where, `must be ${expected}, got ${value}`);
  return value;
}
