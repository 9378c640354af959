/**
 * Query strings with an unencoded name. MemFuse's SDK writes names as they are: it asks for the user "Tom & Jerry" with
 * `?name=Tom%20&%20Jerry`. So a name extends to the end of the string, or to the ids that follow it. An encoded name is read
 * the same way.
 */
import type { z } from "zod";
import { HoldfastError } from "../../errors.js";

/** The parameters that the SDK writes after a name. */
const IDS: ReadonlySet<string> = new Set(["user_id", "agent_id"]);

export function queryWithName(url: string, schema: z.ZodObject | undefined): Record<string, string> {
  const pairs = searchOf(url).split("&");
  const first = pairs.findIndex((pair) => keyOf(pair) === "name");
  const before = first < 0 ? pairs : pairs.slice(0, first);
  const named = first < 0 ? [] : pairs.slice(first);
  const after = followers(named, Object.keys(schema?.shape ?? {}));
  const name = named.slice(0, named.length - after.length).join("&");
  return Object.fromEntries([...before, name, ...after].filter((pair) => pair !== "").map(parsePair));
}

/** The ids at the end that the route takes. A repeated one belongs to the name. */
function followers(pairs: readonly string[], known: readonly string[]): readonly string[] {
  const open = new Set(known.filter((key) => key !== "name"));
  let start = pairs.length;
  for (; start > 1; start--) {
    const key = keyOf(pairs[start - 1] ?? "");
    if (!open.delete(key)) break;
    if (!IDS.has(key)) throw isItTheName(key);
  }
  return pairs.slice(start);
}

/** Guessing could return someone else's entry. */
const isItTheName = (field: string): HoldfastError =>
  new HoldfastError("invalid_input", `${field} cannot be combined with a name`, {
    hint: "omit it; if it is part of the name, encode its & as %26",
    details: { field },
  });

function searchOf(url: string): string {
  const start = url.indexOf("?");
  return start < 0 ? "" : url.slice(start + 1).replace(/#.*$/s, "");
}

const keyOf = (pair: string): string => parsePair(pair)[0];

function parsePair(pair: string): readonly [key: string, value: string] {
  const end = pair.indexOf("=");
  return end < 0 ? [decoded(pair), ""] : [decoded(pair.slice(0, end)), decoded(pair.slice(end + 1))];
}

/** A `+` is a space, as in forms. Requires valid percent-encoding (`checkTarget`). */
const decoded = (text: string): string => decodeURIComponent(text.replaceAll("+", " "));
