import { describe, expect, it } from "vitest";
import type { Question } from "../../input/question.js";
import { MemoryStore } from "../../stores/memory/memory-store.js";
import type { Scored, Store, WordsRequest } from "../../stores/store.js";
import { FakeClock } from "../../testing/fake-clock.js";
import type { Meaning, MeaningHit, MeaningRequest } from "../meaning.js";
import { Retriever } from "./retriever.js";

const SPACE = { user: "ada" } as const;
const NOW = Date.UTC(2026, 10, 15);
const QUESTION: Question = { text: "cat", spaces: [SPACE], filter: {}, depth: 25, bufferOnly: false, recency: 0 };

const scored = (key: number, score: number, more: Partial<Scored> = {}): Scored => ({
  ...{ space: SPACE, key, id: `item ${key}`, version: 1, score, occurredAt: NOW },
  ...more,
});
const near = (key: number, score: number, more: Partial<Scored> = {}): MeaningHit => ({
  ...scored(key, score, more),
  level: "store",
});

/** Two arms that give what they are told to, and remember what they were asked. */
class Desk {
  readonly clock = new FakeClock();
  readonly #inner = new MemoryStore();
  words: (request: WordsRequest) => Promise<readonly Scored[]> = async () => [];
  meaning: (request: MeaningRequest) => Promise<Partial<Meaning>> = async () => ({});
  readonly scoredByWords: (readonly number[])[] = [];
  readonly scoredByMeaning: (readonly number[])[] = [];

  rank(question: Partial<Question> = {}, withMeaning = true) {
    const store: Store = Object.assign(Object.create(this.#inner) as Store, {
      speakers: async () => [],
      searchWords: async (request: WordsRequest) => {
        if (request.keys) this.scoredByWords.push(request.keys);
        return this.words(request);
      },
    });
    const searchMeaning = async (request: MeaningRequest): Promise<Meaning> => ({
      ...{ hits: [], partial: false, sources: [] },
      score: async (found) => {
        this.scoredByMeaning.push(found.map(({ item }) => item.key));
        const below = new Set(found.flatMap(({ item, floor }) => (floor > 0.1 ? item.key : [])));
        const scored = found.flatMap(({ item }) => (below.has(item.key) ? [] : item.key));
        return { scored: new Map(scored.map((key) => [key, { score: 0.1, level: "store" }])), below };
      },
      ...(await this.meaning(request)),
    });
    const retriever = new Retriever({ store, clock: this.clock, ...(withMeaning && { searchMeaning }) });
    return retriever.rank({ ...QUESTION, ...question }, NOW);
  }
}

const many = <T>(count: number, make: (key: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at + 1));

describe("a search", () => {
  it("asks words and meaning side by side", async () => {
    const desk = new Desk();
    const began: string[] = [];
    let go = (): void => {};
    const both = new Promise<void>((resolve) => {
      go = resolve;
    });
    const arrive = async (arm: string): Promise<void> => {
      if (began.push(arm) === 2) go();
      await both; // each waits for the other: one after the other would never end
    };
    desk.words = async () => {
      await arrive("words");
      return [scored(1, 2)];
    };
    desk.meaning = async () => {
      await arrive("meaning");
      return { hits: [near(2, 0.5)] };
    };
    const { found } = await desk.rank();
    expect(found.map(({ key }) => key).sort()).toEqual([1, 2]);
  });

  it("finds an item once that both arms have found, with both scores", async () => {
    const desk = new Desk();
    desk.words = async () => [scored(1, 2)];
    desk.meaning = async () => ({ hits: [{ ...near(1, 0.5), level: "hybrid" }] });
    const { found } = await desk.rank();
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ level: "hybrid", why: { words: { score: 2 }, meaning: { score: 0.5 } } });
  });

  it("does not add what belongs to another version of the text", async () => {
    const desk = new Desk();
    desk.words = async () => [scored(1, 2, { version: 2 })];
    desk.meaning = async () => ({ hits: [near(1, 0.5, { version: 1 })] });
    const { found } = await desk.rank();
    expect(found[0]).toMatchObject({ version: 2, why: { words: { score: 2 } } });
    expect(found[0]?.why.meaning).toBeUndefined();
  });

  it("has what one arm found scored by the other, unless that has told of all it has", async () => {
    const desk = new Desk();
    desk.words = async ({ keys, limit }) =>
      keys ? keys.map((key) => scored(key, 1)) : many(limit, (key) => scored(key, 9));
    desk.meaning = async () => ({ hits: [near(1_000, 0.5)] });
    await desk.rank();
    expect(desk.scoredByWords).toEqual([[1_000]]);
    expect(desk.scoredByMeaning).toEqual([]);
  });

  it("asks neither arm again for what both know by the way", async () => {
    const desk = new Desk();
    const estimates = { keys: Float64Array.of(1_000), most: Float64Array.of(4), slack: 0, isWhole: true };
    desk.words = async ({ limit }) =>
      Object.assign(
        many(limit, (key) => scored(key, 9 - key / 100)),
        { estimates, asOf: 7 },
      );
    desk.meaning = async () => ({
      hits: many(32, (rank) => near(999 + rank, 0.9 - rank / 1_000)),
      estimates: {
        keys: Float64Array.from(many(128, (key) => key)),
        most: Float64Array.from(many(128, (key) => (key === 7 ? 0.8 : 0.1))),
        slack: 0.01,
        isWhole: false,
      },
      asOf: 7,
    });
    const { found } = await desk.rank({ depth: 1 });
    expect(desk.scoredByMeaning, "but for who may be the best").toEqual([[1, 7]]);
    expect(desk.scoredByWords).toEqual([]);
    expect(found[0]?.key).toBe(1_000);
    expect(found[0]?.why.words?.score).toBe(4);
  });

  it("is bound to the clock if words that count are lent by what ends by itself, also to what meaning alone has found", async () => {
    const desk = new Desk();
    const rank = async (more: Partial<Scored>) => {
      desk.words = async ({ keys, limit }) =>
        keys ? keys.map((key) => scored(key, 1, more)) : many(limit, (key) => scored(key, 9));
      desk.meaning = async () => ({ hits: [near(1_000, 0.5)] });
      return desk.rank();
    };
    expect((await rank({})).isClockBound).toBe(false);
    expect((await rank({ until: NOW + 1 })).isClockBound).toBe(true);
  });

  it("has all that words found scored where vectors are missing: the nearest of all may be among them", async () => {
    const desk = new Desk();
    desk.words = async ({ limit }) => many(limit, (key) => scored(key, 200 - key));
    desk.meaning = async () => ({ partial: true });
    const { found, partial } = await desk.rank();
    expect(partial).toBe(true);
    expect(desk.scoredByMeaning.map((keys) => keys.length)).toEqual([128]);
    expect(found[0]?.why.meaning).toMatchObject({ score: 0.1 });
  });

  it("says that it is partial if the vectors were replaced by those of another model between the two rounds", async () => {
    const desk = new Desk();
    desk.words = async ({ keys, limit }) => (keys ?? many(limit, (key) => key)).map((key) => scored(key, 1));
    desk.meaning = async ({ limit }) => ({ hits: many(limit, (key) => near(key, 0.5)), score: async () => undefined });
    const { found, partial } = await desk.rank();
    expect([found.length > 0, partial]).toEqual([true, true]);
  });

  it("drops floors that were measured by something that is not the nearest of all", async () => {
    const desk = new Desk();
    const floors: (readonly number[])[] = [];
    desk.words = async ({ keys, limit }) =>
      keys ? keys.map((key) => scored(key, 0)) : many(limit, (key) => scored(key, 200 - key));
    desk.meaning = async ({ limit }) => ({
      hits: many(limit, (key) => near(key, 0.5 - key / 100)),
      score: async (found) => {
        floors.push(found.map(({ floor }) => floor));
        const isBelow = (floor: number) => floor > 0.25;
        const below = new Set(found.flatMap(({ item, floor }) => (isBelow(floor) ? item.key : [])));
        const scores = found.flatMap(({ item }) => (below.has(item.key) ? [] : [[item.key, 0.9] as const]));
        return { scored: new Map(scores.map(([key, score]) => [key, { score, level: "store" }])), below };
      },
    });
    await desk.rank();
    expect(floors).toHaveLength(2);
    expect(floors[0]?.some((floor) => floor > 0.25)).toBe(true);
    expect(new Set(floors[1])).toEqual(new Set([Number.NEGATIVE_INFINITY]));
  });

  it("takes a full list that ends at nothing for what it is: the others may have vectors that say as little", async () => {
    const desk = new Desk();
    desk.words = async () => [scored(1, 2), scored(2, 1)];
    desk.meaning = async ({ limit }) => ({ hits: many(limit, (key) => near(key + 1_000, key === 1 ? 0.5 : 0)) });
    await desk.rank();
    expect(desk.scoredByMeaning.flat()).toEqual([1, 2]);
  });

  it("does not score what cannot be among the best any more", async () => {
    const desk = new Desk();
    // Thirty are the best of both arms; the others have words that are worth little, and no vector that is worth more.
    const isGood = (key: number): boolean => key <= 30;
    desk.words = async ({ limit }) => many(limit, (key) => scored(key, isGood(key) ? 9 : 0.1));
    desk.meaning = async ({ limit }) => ({
      hits: [...many(30, (key) => near(key, 0.9)), ...many(limit - 30, (key) => near(key + 1_000, 0.1))],
    });
    const { found, candidates } = await desk.rank();
    expect(desk.scoredByMeaning.flat()).toEqual([]);
    expect(found.every(({ key }) => isGood(key))).toBe(true);
    expect(found).toHaveLength(25);
    expect(candidates).toBe(130);
  });

  it("without an embedding model is by words, and says why the others were not asked", async () => {
    const desk = new Desk();
    desk.words = async () => [scored(1, 2)];
    const { found, sources, partial } = await desk.rank({}, false);
    expect(found.map(({ key }) => key)).toEqual([1]);
    expect(partial).toBe(false);
    const silent = sources.filter(({ asked }) => !asked);
    expect(silent.map(({ source }) => source)).toEqual(["round", "hybrid", "meaning"]);
    expect(silent.every(({ why }) => why === "there is no embedding model")).toBe(true);
  });

  it("does not ask for words where the question has none", async () => {
    const desk = new Desk();
    desk.words = async () => {
      throw new Error("asked");
    };
    const { sources } = await desk.rank({ text: "?!" });
    expect(sources[0]).toEqual({ source: "words", asked: false, why: "the question has no words", found: 0, ms: 0 });
  });

  it("of the buffers alone looks at what is not indexed yet", async () => {
    const desk = new Desk();
    const filters: unknown[] = [];
    desk.words = async ({ filter }) => {
      filters.push(filter);
      return [];
    };
    desk.meaning = async ({ filter, bufferOnly }) => {
      filters.push(filter, bufferOnly);
      return {};
    };
    await desk.rank({ bufferOnly: true, filter: { roles: ["user"] } });
    expect(filters).toEqual([{ roles: ["user"], pending: true }, { roles: ["user"], pending: true }, true]);
  });
});

describe("at the deadline", () => {
  const never = new Promise<never>(() => {});

  it.each(["words", "meaning"] as const)("an answer without %s is made of the rest, and says so", async (late) => {
    const desk = new Desk();
    desk.words = async () => (late === "words" ? never : [scored(1, 2)]);
    desk.meaning = async () => (late === "meaning" ? never : { hits: [near(2, 0.5)] });
    const ranked = desk.rank({ deadlineMs: 20 });
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
    await new Promise((resolve) => setImmediate(resolve));
    desk.clock.advance(20);
    const { found, partial, sources } = await ranked;
    expect(found.map(({ key }) => key)).toEqual([late === "words" ? 2 : 1]);
    expect(partial).toBe(true);
    expect(sources.find(({ source }) => source === late)?.why).toBe("not done by the deadline");
  });

  it("an arm that fails afterwards is nobody's failure", async () => {
    const desk = new Desk();
    let fail = (_error: Error): void => {};
    desk.words = () =>
      new Promise((_, reject) => {
        fail = reject;
      });
    const ranked = desk.rank({ deadlineMs: 20 });
    await new Promise((resolve) => setImmediate(resolve));
    desk.clock.advance(20);
    expect((await ranked).found).toEqual([]);
    fail(new Error("too late"));
    await new Promise((resolve) => setImmediate(resolve));
  });
});

describe("the clock binds", () => {
  it.each([
    ["a relative date", { text: "what did she say last week?" }, true],
    ["a date of its own", { text: "what did she say in May 2023?" }, false],
    ["being new", { recency: 0.2 }, true],
    ["nothing", {}, false],
  ] as const)("a question that has %s", async (_, question, isBound) => {
    expect((await new Desk().rank(question)).isClockBound).toBe(isBound);
  });

  it("nothing that says itself when it is asked", async () => {
    const question = { text: "what did she say last week?", recency: 0.2, askedAt: NOW };
    expect((await new Desk().rank(question)).isClockBound).toBe(false);
  });

  it("a question that found something that expires", async () => {
    const desk = new Desk();
    desk.words = async () => [scored(1, 2, { until: NOW + 1 })];
    expect((await desk.rank()).isClockBound).toBe(true);
  });
});
