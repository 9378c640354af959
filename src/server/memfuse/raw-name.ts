/**
 * Query strings with a name that was not encoded. MemFuse's SDK writes names into them as they are: the user "Tom & Jerry"
 * is asked for by `?name=Tom%20&%20Jerry`. So a name goes on until the string ends, or until the ids that follow it. One that
 * is encoded is read the same way.
 */
import type { z } from "zod";
import { HoldfastError } from "../../errors.js";

/** What the SDK writes after a name. */
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

/** The ids at the end, as far as the route takes them. One that comes again belongs to the name. */
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

/** To guess could mean to answer with somebody else. */
const isItTheName = (field: string): HoldfastError =>
  new HoldfastError("invalid_input", `${field} does not go with a name`, {
    hint: "leave it out; if it belongs to the name, write the & in it as %26",
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

/** A `+` is a space, as forms write it. What is not encoded rightly is taken as it is. */
function decoded(text: string): string {
  const spaced = text.replaceAll("+", " ");
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
}
