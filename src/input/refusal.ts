/**
 * Errors for rejected input. They name the path of the field, what was expected, and what was given instead. Keys and
 * values of closed sets are shown, truncated; content never is.
 */
import { HoldfastError } from "../errors.js";
import { didYouMean } from "./nearest.js";

const UNITS_SHOWN = 60;

export function invalid(where: string, problem: string, hint: string = REPEAT): HoldfastError {
  return new HoldfastError("invalid_input", `${where} ${problem}`, { hint, details: { field: where } });
}

/** The hint for messages that already say what is expected. */
const REPEAT = "correct it and repeat the call; nothing was written";

export function tooLarge(where: string, limit: string, hint: string): HoldfastError {
  return new HoldfastError("too_large", `${where} is over the limit of ${limit}`, { hint, details: { field: where } });
}

/** `messages[3].role must be a string, got null`. */
export function wrongType(where: string, expected: string, value: unknown, hint?: string): HoldfastError {
  return invalid(where, `must be ${expected}, got ${typeOf(value)}`, hint);
}

/** Describes the type of a value without revealing its content. */
export function typeOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "a list";
  if (typeof value === "number") return Number.isInteger(value) ? "a number" : String(value);
  if (typeof value === "bigint") return "a BigInt";
  if (typeof value !== "object") return `a ${typeof value}`;
  const name: unknown = value.constructor?.name;
  return typeof name === "string" && name !== "" && name !== "Object" ? `an instance of ${name}` : "an object";
}

/** A key, or a value of a closed set, quoted for a message. */
export function quote(text: string): string {
  return JSON.stringify(text.length > UNITS_SHOWN ? `${text.slice(0, UNITS_SHOWN)}…` : text);
}

/** A caller's object whose keys are checked, but whose values are not. */
export type Fields = { readonly [key: string]: unknown };

/** Returns the value as an object. Throws if it is not an object or has an unknown key of its own. */
export function objectWith(value: unknown, keys: ReadonlySet<string>, where: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrongType(where, "an object", value);
  for (const key of Object.keys(value)) {
    if (!keys.has(key)) throw unknownKey(where, key, keys);
  }
  return value as Fields;
}

function unknownKey(where: string, key: string, keys: ReadonlySet<string>): HoldfastError {
  const { problem, hint } = unknownKeyTold(key, keys);
  return invalid(where, problem, hint);
}

/** What an error says about an unknown key, in every interface. */
export function unknownKeyTold(
  key: string,
  keys: ReadonlySet<string>,
): { readonly problem: string; readonly hint: string } {
  const problem = `has an unknown key ${quote(key)}${didYouMean(key, keys, quote)}`;
  return { problem, hint: keys.size === 0 ? "no keys are known here" : `known keys: ${[...keys].join(", ")}` };
}

/** Parses one value of a closed set. */
export function parseChoice<T extends string>(value: unknown, choices: readonly T[], where: string): T {
  if (choices.includes(value as T)) return value as T;
  throw invalid(where, choiceTold(value, choices));
}

/** What an error says about a value outside a closed set, in every interface. */
export function choiceTold(value: unknown, choices: readonly string[]): string {
  const expected = `must be one of ${choices.map(quote).join(", ")}`;
  if (typeof value !== "string") return `${expected}, got ${typeOf(value)}`;
  return `${expected}, got ${quote(value)}${didYouMean(value, choices, quote)}`;
}
