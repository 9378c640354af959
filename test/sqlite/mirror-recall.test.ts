/** The recall of vector search, with vectors that the shipped model made from sentences. */
import { MiniLmEmbedder } from "holdfast/embedding";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newPath } from "../support/opened.js";
import { Random } from "../support/random.js";
import { Embedding } from "./embedding.js";

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
/** How far a score may be off because the file keeps 16 bits of a number. */
const OFF = 2e-5;
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

/** The scores of all texts, of the model's own numbers. */
const scoresOf = (question: Float32Array): readonly number[] =>
  vectors.map((vector) => vector.reduce((sum, v, i) => sum + v * (question[i] ?? 0), 0));

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
      const scores = scoresOf(question);
      for (const limit of [10, 100]) {
        const found = await embedding.near([lane.space], question, limit);
        const best = scores.toSorted((a, b) => b - a).slice(0, limit);
        expect(new Set(found.map(({ id }) => id)).size).toBe(limit);
        for (const [place, { id, score }] of found.entries()) {
          expect(Math.abs(score - Number(scores[Number(id)]))).toBeLessThan(OFF);
          // The text that brute force has at this place, or one as near to the question.
          expect(Math.abs(Number(scores[Number(id)]) - Number(best[place]))).toBeLessThan(OFF);
        }
      }
    }
    expect(await embedding.store.mirrors()).toMatchObject({ loads: 1, hits: 2 * questions.length, vectors: 800 });
  });
});
