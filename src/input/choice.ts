import { didYouMean } from "./nearest.js";
import { invalid, quote, wrongType } from "./refusal.js";

/** One value of a closed set. */
export function parseChoice<T extends string>(value: unknown, choices: readonly T[], where: string): T {
  if (choices.includes(value as T)) return value as T;
  const expected = `one of ${choices.map(quote).join(", ")}`;
  if (typeof value !== "string") throw wrongType(where, expected, value);
  throw invalid(where, `must be ${expected}, got ${quote(value)}${didYouMean(value, choices, quote)}`);
}
