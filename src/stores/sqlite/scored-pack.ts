/**
 * Found items on their way between threads: their numbers in one array, which is handed over without a copy, and what is
 * text as one JSON text, with each space and each session in it once.
 */
import type { Mutable } from "../../mutable.js";
import type { SpaceRef } from "../../types.js";
import type { Estimates, FoundItems } from "../estimates.js";
import type { VectorScored } from "../indexing.js";
import type { Scored } from "../store.js";
import { roleCode, roleOf } from "./codec.js";

export type Found = Scored & Partial<Pick<VectorScored, "part">>;

export interface PackedFound {
  /**
   * For each item its key, version, score, time, place of space and of session, role, end, part. `NONE` stands for a
   * session, role or part that it does not have, Infinity for an end.
   */
  readonly numbers: Float64Array;
  /** The ids of the items, and the spaces and sessions that they name by place. */
  readonly names: string;
  readonly estimates?: Estimates;
  readonly asOf?: number;
}

interface Names {
  readonly ids: readonly string[];
  readonly spaces: readonly SpaceRef[];
  readonly sessions: readonly string[];
}

/** Numbers of an item. */
const WIDTH = 9;
const NONE = -1;

/** Gives each value its place, the same value the same one. */
class Places<T> {
  readonly values: T[] = [];
  readonly #places = new Map<T, number>();

  of(value: T): number {
    const known = this.#places.get(value);
    if (known !== undefined) return known;
    const place = this.values.push(value) - 1;
    this.#places.set(value, place);
    return place;
  }
}

export function packScored(found: FoundItems<Found>): PackedFound {
  const spaces = new Places<SpaceRef>();
  const sessions = new Places<string>();
  const ids: string[] = [];
  const numbers = new Float64Array(found.length * WIDTH);
  let at = 0;
  for (const { key, id, version, score, occurredAt, space, sessionId, role, until, part } of found) {
    ids.push(id);
    numbers[at] = key;
    numbers[at + 1] = version;
    numbers[at + 2] = score;
    numbers[at + 3] = occurredAt;
    numbers[at + 4] = spaces.of(space);
    numbers[at + 5] = sessionId === undefined ? NONE : sessions.of(sessionId);
    numbers[at + 6] = role === undefined ? NONE : roleCode(role);
    numbers[at + 7] = until ?? Infinity; // a time may be before 1970
    numbers[at + 8] = part ?? NONE;
    at += WIDTH;
  }
  const names: Names = { ids, spaces: spaces.values, sessions: sessions.values };
  const { estimates, asOf } = found;
  return {
    numbers,
    names: JSON.stringify(names),
    ...(estimates && { estimates }),
    ...(asOf !== undefined && { asOf }),
  };
}

/** What need not be copied. */
export function buffersOf({ numbers, estimates }: PackedFound): ArrayBuffer[] {
  const arrays = estimates ? [numbers, estimates.keys, estimates.most] : [numbers];
  return arrays.map(({ buffer }) => buffer as ArrayBuffer);
}

export function unpackScored({ numbers, names, estimates, asOf }: PackedFound): FoundItems<Found> {
  const { ids, spaces, sessions } = JSON.parse(names) as Names;
  const items = ids.map((id, item) => {
    const at = item * WIDTH;
    const number = (place: number): number => numbers[at + place] as number;
    const found: Mutable<Found> = {
      space: spaces[number(4)] as SpaceRef,
      key: number(0),
      id,
      version: number(1),
      score: number(2),
      occurredAt: number(3),
    };
    if (number(6) !== NONE) found.role = roleOf(number(6));
    if (number(5) !== NONE) found.sessionId = sessions[number(5)] as string;
    if (number(7) !== Infinity) found.until = number(7);
    if (number(8) !== NONE) found.part = number(8);
    return found;
  });
  return asOf === undefined ? items : Object.assign(items, { asOf, ...(estimates && { estimates }) });
}
