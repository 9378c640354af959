/** A fact at the end of a very long message is found by its meaning: nothing is cut silently. */
import { describe, expect, it } from "vitest";
import { open } from "../support/opened.js";
import { Random } from "../support/random.js";
import { until } from "../support/until.js";

const WORDS = 20_000;
const FACT = "Oh, and our little daughter was born in the hospital last Tuesday.";
const QUESTION = "when did the couple get their baby?";

const SUBJECTS = ["The committee", "A neighbour", "Our supplier", "The old bridge", "This engine", "Every ledger"];
const VERBS = ["delivered", "measured", "painted", "reviewed", "replaced", "counted", "ordered", "described"];
const OBJECTS = [
  "seven wooden crates",
  "the north wall",
  "a pile of receipts",
  "two brass valves",
  "the spring catalogue",
];
const ENDINGS = [
  "before the rain came",
  "without much hurry",
  "in the usual manner",
  "against all advice",
  "once more",
];

/** Sentences about nothing in particular; all different, so that no work can be spared. */
function filler(words: number): string {
  const random = new Random(20);
  const sentences: string[] = [];
  for (let count = 0, at = 0; count < words; at++) {
    const sentence = `${random.pick(SUBJECTS)} ${random.pick(VERBS)} ${random.pick(OBJECTS)} ${random.pick(ENDINGS)}, page ${at}.`;
    sentences.push(sentence);
    count += sentence.split(" ").length;
  }
  return sentences.join(" ");
}

describe("a message of 20,000 words", () => {
  it("is found by the meaning of its last sentence", async () => {
    const memory = await open({ path: ":memory:", buffer: { hybridBuffer: { embeddingModel: "all-MiniLM-L6-v2" } } });
    const session = memory.session({ user: "ada", session: "s" });
    const text = filler(WORDS);
    const others = Array.from({ length: 5 }, (_, at) => ({
      role: "user" as const,
      content: `${filler(30)} Note ${at}.`,
    }));
    await session.add([...others, { role: "user", id: "long", content: `${text} ${FACT}` }]);
    await session.add([{ role: "user", id: "without", content: filler(200) }]);
    expect(await session.flush()).toEqual({ pending: 0, parked: 0 });
    const hits = await session.query(QUESTION, { topK: 3 });
    expect(hits[0]).toMatchObject({ id: "long", level: "store" });
    expect(hits.partial).toBe(false);
    // Not by chance, nor by text of that kind: without its last sentence it is one of many.
    await session.update("long", { content: filler(2_000) });
    await session.add([{ role: "user", id: "fact", content: FACT }]);
    // On a busy machine it may take more than one question until it is embedded: the long text waits too.
    let found = await session.query(QUESTION, { topK: 1 });
    await until(async () => {
      if (found.partial) found = await session.query(QUESTION, { topK: 1 });
      return !found.partial;
    });
    expect(found[0]?.id).toBe("fact");
  });
});
