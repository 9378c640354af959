import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encode, scoreOf } from "./codes.js";
import { createKernel } from "./kernel/create.js";
import { createPlainKernel } from "./kernel/plain.js";
import { Mirror, vectorsPerPage } from "./mirror.js";
import { Nearest } from "./nearest.js";
import { PagePool } from "./page-pool.js";
import { Question } from "./quantise.js";

const MEGABYTE = 1024 * 1024;
const noRoom = () => false;
const put = (mirror: Mirror, key: number, vectors: Float32Array, dimensions: number): boolean =>
  mirror.put(key, encode(vectors, dimensions));

/** `count` contiguous unit vectors, reproducible by seed. */
function vectors(seed: number, count: number, dimensions: number): Float32Array {
  const values = new Float32Array(count * dimensions);
  let state = seed * 2_654_435_761 + 1;
  for (let part = 0; part < count; part++) {
    const vector = values.subarray(part * dimensions, (part + 1) * dimensions);
    for (const at of vector.keys()) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      vector[at] = state / 2 ** 32 - 0.5;
    }
    const length = Math.hypot(...vector);
    for (const [at, value] of vector.entries()) vector[at] = value / length;
  }
  return values;
}

function scoresOf(mirror: Mirror, vector: Float32Array, selected?: Uint8Array): Map<number, number> {
  const nearest = new Nearest(Number.POSITIVE_INFINITY);
  mirror.scan(new Question(vector), selected, nearest);
  const few = new Nearest(7);
  mirror.scan(new Question(vector), selected, few);
  expect(few.best(), "few are the beginning of all").toEqual(nearest.best().slice(0, 7));
  return new Map(nearest.best().map(({ key, score }) => [key, score]));
}

/** The scores are of exactly these items, and are those of their codes, bit for bit. */
function expectScores(
  scores: ReadonlyMap<number, number>,
  items: ReadonlyMap<number, Float32Array>,
  query: Float32Array,
  mirror: Mirror,
) {
  expect([...scores.keys()].sort((a, b) => a - b)).toEqual([...items.keys()].sort((a, b) => a - b));
  const question = new Question(query);
  for (const [key, given] of items) {
    expect(scores.get(key)).toBe(scoreOf(encode(given, query.length), question));
    expect(mirror.score(key, question)).toBe(scores.get(key));
  }
}

type Step =
  | { readonly do: "put"; readonly key: number; readonly seed: number; readonly parts: number }
  | { readonly do: "remove"; readonly key: number }
  | { readonly do: "ask"; readonly seed: number; readonly keys: readonly number[] | null };

const key = fc.integer({ min: 1, max: 60 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("put" as const),
      key,
      seed: fc.nat(9_999),
      parts: fc.integer({ min: 0, max: 5 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("remove" as const), key }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("ask" as const), seed: fc.nat(9_999), keys: fc.option(fc.array(key)) }),
  },
);

describe("a mirror", () => {
  it.each([
    ["with SIMD", undefined],
    ["without", createPlainKernel],
  ] as const)("gives the scores of exactly the items it has, %s, whatever came and went", (_, create) => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 150 }), fc.constantFrom(3, 16, 40, 384), (steps, dimensions) => {
        const pool = new PagePool(4 * MEGABYTE, noRoom, ...(create ? [create] : []));
        const mirror = new Mirror(pool, dimensions);
        const items = new Map<number, Float32Array>();
        for (const one of [...steps, { do: "ask", seed: 1, keys: null } as const]) {
          if (one.do === "put") {
            const given = vectors(one.seed, one.parts, dimensions);
            expect(put(mirror, one.key, given, dimensions)).toBe(true);
            items.delete(one.key);
            if (one.parts > 0) items.set(one.key, given);
          } else if (one.do === "remove") {
            expect(mirror.remove(one.key)).toBe(items.delete(one.key));
          } else {
            const query = vectors(one.seed + 10_000, 1, dimensions);
            const wanted = new Set(one.keys ?? items.keys());
            const selected = one.keys ? mirror.select(one.keys) : undefined;
            const asked = new Map([...items].filter(([item]) => wanted.has(item)));
            expectScores(scoresOf(mirror, query, selected), asked, query, mirror);
          }
          expect(mirror.items).toBe(items.size);
          expect(mirror.score(61, new Question(vectors(1, 1, dimensions))), "it was never put").toBeUndefined();
          const rows = [...items.values()].reduce((sum, given) => sum + given.length / dimensions, 0);
          expect(mirror.vectors).toBe(rows);
        }
        mirror.clear();
      }),
      { numRuns: 60 },
    );
  });

  it("offers the newest of equals, however many there are: the same sum is compared that is offered", () => {
    const dimensions = 16;
    for (let seed = 1; seed <= 40; seed++) {
      const mirror = new Mirror(new PagePool(4 * MEGABYTE, noRoom), dimensions);
      const same = vectors(seed, 1, dimensions);
      for (let item = 1; item <= 50; item++) put(mirror, item, same, dimensions);
      const few = new Nearest(7);
      mirror.scan(new Question(vectors(seed + 1_000, 1, dimensions)), undefined, few);
      expect(
        few.best().map((near) => near.key),
        `seed ${seed}`,
      ).toEqual([50, 49, 48, 47, 46, 45, 44]);
    }
  });

  it("leaves nothing of removed items in memory, and returns their pages", () => {
    const dimensions = 64;
    const pool = new PagePool(4 * MEGABYTE, noRoom);
    const mirror = new Mirror(pool, dimensions);
    const other = new Mirror(pool, dimensions);
    const perPage = vectorsPerPage(dimensions);
    for (let item = 1; item <= 2 * perPage; item++) put(mirror, item, vectors(item, 1, dimensions), dimensions);
    const marked = new Float32Array(dimensions).fill(0.125 + 0.0005);
    put(mirror, 7, marked, dimensions);
    put(other, 1, vectors(1, 1, dimensions), dimensions);
    const codes = encode(marked, dimensions);
    const planes = [codes.at(8), codes.at(-1)].map((byte) => Buffer.alloc(16, byte));
    expect(planes.every(([byte]) => Number(byte) > 0)).toBe(true);
    const find = () => planes.map((part) => Buffer.from(pool.kernel.memory.buffer).indexOf(part));
    for (const place of find()) expect(place, "on a page, and not on the desk").toBeGreaterThanOrEqual(65_536);
    mirror.remove(7);
    expect(find(), "at once").toEqual([-1, -1]);
    mirror.clear();
    other.clear();
    expect(Buffer.from(pool.kernel.memory.buffer, 65_536).every((byte) => byte === 0)).toBe(true);
    const taken = pool.bytes;
    const again = new Mirror(pool, dimensions);
    for (let item = 1; item <= 2 * perPage; item++) put(again, item, vectors(item, 1, dimensions), dimensions);
    expect(pool.bytes - taken, "pages are used again").toBeLessThan(65_536);
  });

  it("compacts rows when a quarter of them are gaps", () => {
    const dimensions = 384;
    const pool = new PagePool(8 * MEGABYTE, noRoom);
    const mirror = new Mirror(pool, dimensions);
    const perPage = vectorsPerPage(dimensions);
    const items = new Map<number, Float32Array>();
    for (let item = 1; item <= 8 * perPage; item++) {
      items.set(item, vectors(item, 1, dimensions));
      put(mirror, item, items.get(item) as Float32Array, dimensions);
    }
    for (let item = 1; item <= 8 * perPage; item++) if (item % 2 === 0 && mirror.remove(item)) items.delete(item);
    const query = vectors(5, 1, dimensions);
    expectScores(scoresOf(mirror, query), items, query, mirror);
    // Half of the pages are free again: others fit in without a page from the system.
    const before = pool.bytes;
    const second = new Mirror(pool, dimensions);
    for (let item = 1; item <= 3 * perPage; item++) put(second, item, items.get(1) as Float32Array, dimensions);
    expect(pool.bytes - before).toBeLessThan(65_536);
    expectScores(scoresOf(mirror, query), items, query, mirror);
  });
});

describe("the memory of mirrors", () => {
  it("never exceeds its budget, and reports when there is no room", () => {
    const dimensions = 384;
    let evictions = 0;
    let first: Mirror | undefined;
    const pool = new PagePool(2 * MEGABYTE, () => {
      if (!first) return false;
      first.clear();
      first = undefined;
      evictions++;
      return true;
    });
    first = new Mirror(pool, dimensions);
    for (let item = 1; item <= 1_000; item++)
      expect(first && put(first, item, vectors(item, 1, dimensions), dimensions)).toBe(true);
    const second = new Mirror(pool, dimensions);
    let taken = 0;
    while (put(second, taken + 1, vectors(taken, 1, dimensions), dimensions)) {
      taken++;
      expect(pool.bytes).toBeLessThanOrEqual(2 * MEGABYTE);
    }
    expect(evictions).toBe(1);
    expect(taken).toBeGreaterThan(2_000);
    expect(pool.bytes).toBeGreaterThan(MEGABYTE);
    second.clear();
    expect(put(new Mirror(pool, dimensions), 1, vectors(1, 1, dimensions), dimensions)).toBe(true);
  });

  it("asks a system that refused memory again a minute later", () => {
    let isRefused = true;
    let passed = 0;
    const create = (pagesMax: number) => {
      const kernel = createKernel(pagesMax);
      const grow = kernel.memory.grow.bind(kernel.memory);
      kernel.memory.grow = (pages) => {
        if (isRefused) throw new RangeError("WebAssembly.Memory.grow(): Unable to grow instance memory");
        return grow(pages);
      };
      return kernel;
    };
    const pool = new PagePool(4 * MEGABYTE, noRoom, create, () => passed);
    const mirror = new Mirror(pool, 16);
    const putOne = () => put(mirror, 1, vectors(1, 1, 16), 16);
    expect(putOne()).toBe(false);
    expect([pool.isRefused, pool.pagesMax]).toEqual([true, 0]);
    isRefused = false;
    passed = 59_999;
    expect(putOne()).toBe(false);
    passed = 60_000;
    expect(pool.isRefused).toBe(false);
    expect(putOne()).toBe(true);
    expect(pool.pagesMax).toBeGreaterThan(0);
  });

  it("is empty for a budget of zero", () => {
    const pool = new PagePool(0, noRoom);
    expect(put(new Mirror(pool, 16), 1, vectors(1, 1, 16), 16)).toBe(false);
    expect(pool.bytes).toBe(0);
  });

  it("has no mirrors for vectors of very many dimensions", () => {
    expect(vectorsPerPage(8_176)).toBe(4);
    expect(vectorsPerPage(8_177)).toBe(0);
  });
});
