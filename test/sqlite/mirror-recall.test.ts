/** How much of what is nearest is found, with vectors that the shipped model has made of sentences. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { MiniLmEmbedder } from "holdfast/embedding";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Coder as CoderOf } from "../../dist/retrieval/vectors/codes.js";
import type { Mirror as MirrorOf } from "../../dist/retrieval/vectors/mirror.js";
import type { Nearest as NearestOf } from "../../dist/retrieval/vectors/nearest.js";
import type { Pool as PoolOf } from "../../dist/retrieval/vectors/pool.js";
import type { Question as QuestionOf } from "../../dist/retrieval/vectors/quantise.js";
import { newPath } from "../support/opened.js";
import { Random } from "../support/random.js";
import { root } from "../support/root.js";
import { Embedding } from "./embedding.js";

const part = (path: string): Promise<unknown> => import(pathToFileURL(join(root, "dist/retrieval/vectors", path)).href);
const { Coder } = (await part("codes.js")) as { readonly Coder: typeof CoderOf };
const { Mirror } = (await part("mirror.js")) as { readonly Mirror: typeof MirrorOf };
const { Nearest } = (await part("nearest.js")) as { readonly Nearest: typeof NearestOf };
const { Pool } = (await part("pool.js")) as { readonly Pool: typeof PoolOf };
const { Question } = (await part("quantise.js")) as { readonly Question: typeof QuestionOf };

const WHO = ["my sister", "the plumber", "Ada", "our neighbour", "a colleague", "the dentist", "grandfather"];
const DID = ["repaired", "sold", "lost", "painted", "brought back", "complained about", "photographed", "cooked"];
const WHAT = [
  "the old bicycle",
  "a violin",
  "two tickets",
  "the garden fence",
  "some soup",
  "a red car",
  "the letters",
];
const WHEN = ["last Tuesday", "in spring", "before the holidays", "yesterday evening", "two years ago", "at noon"];

/** Sentences like those that people say, many of them much alike. */
function sentences(count: number): string[] {
  const random = new Random(20);
  const all = new Set<string>();
  while (all.size < count) {
    const [who, did, what, when] = [WHO, DID, WHAT, WHEN].map((list) => random.pick(list));
    all.add(`${who} ${did} ${what} ${when}`);
  }
  return [...all];
}

const DIMENSIONS = 384;
const TEXTS = sentences(800);
const QUESTIONS = [
  "who sold the bicycle?",
  "what did Ada lose?",
  "something about music",
  "the meal of yesterday",
  "when was the fence painted?",
  ...TEXTS.filter((_, at) => at % 32 === 0).map((text) => `did ${text}?`),
];

const embedder = new MiniLmEmbedder();
let vectors: readonly Float32Array[] = [];
let questions: readonly Float32Array[] = [];

beforeAll(async () => {
  vectors = await embedder.embed(TEXTS);
  questions = await embedder.embed(QUESTIONS);
});
afterAll(() => embedder.close());

/** The places of the texts nearest to a question. */
function nearest(question: Float32Array, limit: number): number[] {
  const scores = vectors.map((vector, at) => ({
    at,
    score: vector.reduce((sum, v, i) => sum + v * (question[i] ?? 0), 0),
  }));
  scores.sort((a, b) => b.score - a.score);
  return scores.slice(0, limit).map(({ at }) => at);
}

describe("vectors of real sentences", () => {
  it("are found as by brute force, all of them", async () => {
    const embedding = await Embedding.open(newPath(), DIMENSIONS);
    const lane = { space: { user: "ada" } };
    await embedding.add(
      lane,
      TEXTS.map((content, at) => ({ id: String(at), content })),
    );
    await embedding.embed(lane, (id) => vectors[Number(id)] as Float32Array);
    for (const question of questions) {
      for (const limit of [10, 100]) {
        const found = await embedding.near([lane.space], question, limit);
        expect(found.map(({ id }) => Number(id))).toEqual(nearest(question, limit));
      }
    }
    expect(await embedding.store.mirrors()).toMatchObject({ loads: 1, hits: 2 * questions.length, vectors: 800 });
  });

  it("are nearly all among those that their signs let through", () => {
    const mirror = new Mirror(new Pool(8 * 1024 * 1024, () => false), DIMENSIONS, 0);
    const coder = new Coder();
    for (const [at, vector] of vectors.entries()) mirror.put(at + 1, coder.encode(vector, vector.length));
    const limit = 3;
    let hits = 0;
    for (const question of questions) {
      const offered = new Nearest(vectors.length);
      expect(mirror.look(new Question(question), undefined, limit, offered), "not all are looked at").toBe(false);
      const looked = new Set(offered.best().map(({ key }) => key - 1));
      expect(looked.size).toBeLessThan(vectors.length / 2);
      hits += nearest(question, limit).filter((at) => looked.has(at)).length;
    }
    expect(hits / (limit * questions.length)).toBeGreaterThanOrEqual(0.99);
  });
});
