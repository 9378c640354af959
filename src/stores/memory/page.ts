/**
 * Pages by key: a cursor holds the key of the last thing given, so that a page starts right behind it whatever was
 * added or removed meanwhile. A cursor belongs to one kind of list; any other string is refused.
 */
import { HoldfastError } from "../../errors.js";
import type { Order, Page } from "../../types.js";

export interface PageRequest<T> {
  /** Names the list, so that its cursors are not taken for another's. */
  readonly list: string;
  /** The key that orders the list, unique to each thing. */
  readonly key: (thing: T) => readonly number[];
  readonly order: Order;
  readonly limit: number;
  readonly cursor: string | undefined;
}

export function pageOf<T>(things: Iterable<T>, { list, key, order, limit, cursor }: PageRequest<T>): Page<T> {
  const direction = order === "asc" ? 1 : -1;
  const after = cursor === undefined ? undefined : decode(list, cursor);
  const rest: T[] = [];
  for (const thing of things) if (!after || direction * compare(key(thing), after) > 0) rest.push(thing);
  rest.sort((a, b) => direction * compare(key(a), key(b)));
  const items = rest.slice(0, limit);
  const last = items.at(-1);
  return last !== undefined && rest.length > limit ? { items, next: encode(list, key(last)) } : { items };
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [place, value] of a.entries()) {
    const difference = value - (b[place] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function encode(list: string, key: readonly number[]): string {
  return Buffer.from(JSON.stringify([list, ...key])).toString("base64url");
}

function decode(list: string, cursor: string): readonly number[] {
  try {
    const [of, ...key] = JSON.parse(Buffer.from(cursor, "base64url").toString()) as readonly unknown[];
    if (of === list && key.length > 0 && key.every((part) => typeof part === "number")) return key;
  } catch {
    // Not one of ours, which is said below.
  }
  throw new HoldfastError("invalid_input", "The cursor is not one of this list.", {
    hint: "Give back `next` of the page before, with the same order, or leave the cursor out to start over.",
  });
}
