/** Chance that can be replayed: every random choice of a test comes from one seed, and the seed is printed. */

/** A small, well-mixed generator (mulberry32). Not for secrets. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to, not including, 1. */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `min` to `max`, both included. */
  between(min: number, max: number): number {
    return min + Math.floor(this.fraction() * (max - min + 1));
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  /** Requires a list that is not empty. */
  pick<T>(list: readonly T[]): T {
    return list[this.between(0, list.length - 1)] as T;
  }

  /** One of the keys, each as likely as its weight says. Requires that some weight is over 0. */
  weighted<K extends string>(weights: { readonly [key in K]: number }): K {
    const entries = Object.entries<number>(weights) as [K, number][];
    let left = this.fraction() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of entries) {
      left -= weight;
      if (left < 0) return key;
    }
    return (entries.at(-1) as [K, number])[0];
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.between(0, 255)));
  }
}

/** The seed of `npm test`: fixed, so that the same commit gives the same answer. */
const FIXED_SEED = 20_261_118;

/** The seed of this run: HOLDFAST_TEST_SEED, or the fixed one. */
export function runSeed(): number {
  const given = process.env["HOLDFAST_TEST_SEED"];
  const seed = given === undefined ? FIXED_SEED : Number(given);
  if (!Number.isInteger(seed) || seed < 0 || seed >= 2 ** 31) {
    throw new Error(`HOLDFAST_TEST_SEED is not a whole number below 2^31: ${given}`);
  }
  return seed;
}

/** The seed of this run, printed, so that a failure can be replayed. */
export function testSeed(what: string): number {
  const seed = runSeed();
  console.log(`${what}: seed ${seed} (HOLDFAST_TEST_SEED=${seed} replays it)`);
  return seed;
}
