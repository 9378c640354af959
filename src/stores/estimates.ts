/**
 * What a search knows by the way of items that it does not tell of. Whoever puts two searches together need not ask one of
 * them again about what the other has found.
 */
import { KeySieve } from "./key-sieve.js";

export interface Estimates {
  readonly keys: Float64Array;
  /** The most that each of these items can score. */
  readonly most: Float64Array;
  /** How much less it can be; 0: these are the scores. */
  readonly slack: number;
  /** Whether all other items that pass the filter and were not told of score nothing. */
  readonly isWhole: boolean;
}

/** Found items, and what else is known if that was asked for. */
export interface FoundItems<T> extends ReadonlyArray<T> {
  readonly estimates?: Estimates;
  /** The newest version of the spaces that were searched: if two searches saw the same, nothing had changed between them. */
  readonly asOf?: number;
}

/** Tells of those that are wanted, by their keys. */
export function eachKnown<T>(
  estimates: Estimates | undefined,
  wanted: ReadonlyMap<number, T>,
  tell: (wanted: T, most: number, slack: number) => void,
): void {
  if (!estimates || wanted.size === 0) return;
  const { keys, most, slack } = estimates;
  const sieve = new KeySieve();
  for (const key of wanted.keys()) sieve.add(key);
  for (let at = 0; at < keys.length; at++) {
    if (!sieve.mayHave(keys[at] as number)) continue;
    const found = wanted.get(keys[at] as number);
    if (found !== undefined) tell(found, most[at] as number, slack);
  }
}
