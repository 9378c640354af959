import { bytesOf, repairText } from "../text.js";
import type { Json } from "../types.js";
import { JSON_DEPTH_MAX, JSON_ELEMENTS_MAX } from "./limits.js";
import { invalid, quote, tooLarge, wrongType } from "./refusal.js";

/** Upper bound on the serialised bytes per counted unit: a number counts 1 and takes up to 24 bytes. */
const BYTES_PER_UNIT_MAX = 25;

const HINTS: { readonly [type: string]: string } = {
  undefined: "leave the key out, or use null",
  number: "JSON has no NaN and no Infinity: use null or a string",
  bigint: "JSON has no BigInt: use a string",
  object: "only plain objects and lists are kept: turn it into one, for example a Date into toISOString()",
};

const TOO_MANY_HINT = "the elements of all lists and objects count together; split it into several messages";

interface JsonRules {
  readonly bytesMax: number;
  readonly tooLargeHint: string;
  /** Whether a key with the value undefined counts as absent. */
  readonly dropUndefined: boolean;
}

interface Walk {
  readonly rules: JsonRules;
  readonly where: string;
  readonly path: (string | number)[];
  /** A lower bound of the serialised bytes so far. It also ends the walk of a graph that keeps sharing its nodes. */
  units: number;
  /** Elements of all lists and objects so far. */
  elements: number;
}

/**
 * Returns a checked and repaired copy of a JSON value, which later changes by the caller do not affect. Values that
 * JSON cannot represent and would silently change are rejected: undefined, NaN, functions, class instances, cycles.
 */
export function copyJson(value: unknown, where: string, rules: JsonRules): Json {
  const walk: Walk = { rules, where, path: [], units: 0, elements: 0 };
  const copied = copy(value, walk);
  if (walk.units * BYTES_PER_UNIT_MAX > rules.bytesMax) {
    if (bytesOf(JSON.stringify(copied)) > rules.bytesMax) throw overLimit(walk);
  }
  return copied;
}

function copy(value: unknown, walk: Walk): Json {
  switch (typeof value) {
    case "string":
      spend(walk, value.length + 2);
      return repairText(value);
    case "boolean":
      spend(walk, 4);
      return value;
    case "number":
      if (!Number.isFinite(value)) break;
      spend(walk, 1);
      return value + 0; // turns -0, which JSON does not have, into 0
    case "object":
      if (value === null) {
        spend(walk, 4);
        return value;
      }
      if (walk.path.length >= JSON_DEPTH_MAX) throw tooDeep(walk);
      if (Array.isArray(value)) return copyList(value, walk);
      if (isPlain(value)) return copyObject(value as { readonly [key: string]: unknown }, walk);
      break;
    default:
  }
  throw wrongType(placeOf(walk), "a JSON value", value, HINTS[typeof value]);
}

function copyList(list: readonly unknown[], walk: Walk): Json {
  spend(walk, 2);
  const copied: Json[] = [];
  for (let index = 0; index < list.length; index++) {
    walk.path.push(index);
    countElement(walk);
    spend(walk, 1);
    copied.push(copy(list[index], walk));
    walk.path.pop();
  }
  return copied;
}

function copyObject(object: { readonly [key: string]: unknown }, walk: Walk): Json {
  spend(walk, 2);
  const copied: { [key: string]: Json } = {};
  for (const key of Object.keys(object)) {
    const inner = object[key];
    if (inner === undefined && walk.rules.dropUndefined) continue;
    walk.path.push(key);
    countElement(walk);
    spend(walk, key.length + 3);
    const sound = repairText(key);
    if (sound !== key && (Object.hasOwn(object, sound) || Object.hasOwn(copied, sound))) {
      throw invalid(placeOf(walk), "is the same key as another once its broken characters are replaced");
    }
    setOwn(copied, sound, copy(inner, walk));
    walk.path.pop();
  }
  return copied;
}

/** Plain assignment, except for the one name that would set the prototype. */
export function setOwn<T>(object: { [key: string]: T }, key: string, value: T): void {
  if (key !== "__proto__") object[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

/** True for `{}` of any realm and for objects without a prototype. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function spend(walk: Walk, units: number): void {
  walk.units += units;
  if (walk.units > walk.rules.bytesMax) throw overLimit(walk);
}

function countElement(walk: Walk): void {
  if (++walk.elements > JSON_ELEMENTS_MAX) throw tooLarge(walk.where, `${JSON_ELEMENTS_MAX} elements`, TOO_MANY_HINT);
}

function overLimit({ where, rules }: Walk) {
  return tooLarge(where, `${rules.bytesMax / 1024} KiB of JSON`, rules.tooLargeHint);
}

function tooDeep(walk: Walk) {
  return invalid(walk.where, `is nested deeper than ${JSON_DEPTH_MAX} levels, or contains itself`);
}

function placeOf({ where, path }: Walk): string {
  let place = where;
  for (const step of path) {
    place += typeof step === "number" ? `[${step}]` : /^[\w$-]+$/.test(step) ? `.${step}` : `[${quote(step)}]`;
  }
  return place;
}
