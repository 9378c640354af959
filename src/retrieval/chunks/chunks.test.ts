import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CHUNK_STRATEGIES, type Chunk, type Chunkable, type Chunked, type Fit } from "./chunk.js";
import { type ChunkRequest, chunkItems, Drafts, fitDrafts, nextDrafts } from "./chunks.js";
import { chunkStrategy } from "./strategy.js";

/** A model that counts code points, and records the texts it was given. */
function model(tokensMax: number): Fit & { readonly calls: string[][] } {
  const calls: string[][] = [];
  return {
    tokensMax,
    calls,
    countTokens: async (texts) => {
      calls.push([...texts]);
      return texts.map((text) => [...text].length + 2);
    },
  };
}

const item = (content: string, key = 10): Chunkable => ({ key, version: 1, name: "Ann", content });
const alone = (content: string): ChunkRequest => ({ item: item(content), earlier: [] });
const message = chunkStrategy("message");
const contextual = chunkStrategy("contextual");

async function one(request: ChunkRequest, fit: Fit, strategy = message): Promise<Chunked> {
  const [chunked] = await chunkItems(strategy, [request], fit);
  if (!chunked) throw new Error("No answer for the item.");
  return chunked;
}

describe("fitting", () => {
  test("texts that are certain to fit are not counted", async () => {
    const fit = model(256);
    await chunkItems(message, [alone("a".repeat(200)), alone("Short. ".repeat(60))], fit);
    expect(fit.calls).toEqual([]);
  });

  test("a text whose decomposed form has too many bytes is counted", async () => {
    const fit = model(40);
    // 15 Hangul syllables of 3 bytes each, decomposed 6 or 9.
    await one({ item: { key: 1, version: 1, content: "각".repeat(10) }, earlier: [] }, fit);
    expect(fit.calls).toEqual([["각".repeat(10)]]);
  });

  test("each round is one call for the whole batch", async () => {
    const fit = model(40);
    const batch = Array.from({ length: 20 }, (_, key) => ({ item: item("word ".repeat(20 + key), key), earlier: [] }));
    await chunkItems(message, batch, fit);
    expect(fit.calls.length).toBeLessThanOrEqual(5);
    expect(fit.calls[0]).toHaveLength(20);
  });

  test("text that is too long is cut at a sentence end, else between words, else between letters", async () => {
    const words = "alpha beta gamma delta epsilon zeta";
    const text = (content: string, tokensMax: number) =>
      one(alone(content), model(tokensMax)).then(({ chunks }) => chunks.map((chunk) => chunk.text));
    expect(await text("Go to bed. I am so tired.", 26)).toEqual(["Ann: Go to bed.", "Ann: I am so tired."]);
    const parts = await text(words, 26);
    expect(parts.map((part) => part.slice(5)).join(" ")).toBe(words);
    for (const part of parts) expect(part).toMatch(/^Ann: (\b[a-z]+\b ?)+$/);
    expect((await text("abcdefghijklmnopqrstuvwxyz", 20)).join("").replaceAll("Ann: ", "")).toBe(
      "abcdefghijklmnopqrstuvwxyz",
    );
  });

  test("a name that is too long is shortened, and the content is kept", async () => {
    const name = "👨‍👩‍👧‍👦".repeat(100);
    const { chunks } = await one(
      { item: { key: 1, version: 1, name, content: "I live in Lisbon." }, earlier: [] },
      model(64),
    );
    expect(chunks).toHaveLength(1);
    expect(chunks[0]?.text).toMatch(/^(👨‍👩‍👧‍👦)+: I live in Lisbon\.$/u);
  });

  test("a letter with thousands of marks is one chunk, embedded by the part that fits", async () => {
    const content = `Hello my dear friend! e${"\u0301".repeat(5000)}. And goodbye to you!`;
    const { chunks } = await one(alone(content), model(64));
    expect(chunks.every(({ text }) => [...text].length <= 62)).toBe(true);
    const marked = chunks.find(({ start, end }) => content.slice(start, end).startsWith("e\u0301"));
    expect(marked && marked.end - marked.start).toBeGreaterThan(5000);
    expect(marked?.text).toMatch(/^(Ann: )?e\u0301+$/);
  });

  test("a model that does not accept even one character refuses the item, and names it", async () => {
    const fit: Fit = {
      tokensMax: 9,
      countTokens: async (texts) => texts.map((text) => (text.includes("😀") ? 10 : 1)),
    };
    await expect(chunkItems(message, [alone("a"), alone("b 😀 c")], fit)).rejects.toMatchObject({
      code: "text_refused",
      details: { index: 1 },
    });
  });

  test("a model that counts fewer texts than it was given fails", async () => {
    const fit: Fit = { tokensMax: 9, countTokens: async () => [] };
    await expect(chunkItems(message, [alone("a long way to go")], fit)).rejects.toMatchObject({
      code: "embedder_failed",
    });
  });

  test("white space alone is an item without chunks", async () => {
    expect(await chunkItems(message, [alone(" \n"), alone(""), alone("word")], model(256))).toMatchObject([
      { chunks: [], borrowed: [] },
      { chunks: [], borrowed: [] },
      { chunks: [{ start: 0, end: 4, text: "Ann: word" }] },
    ]);
  });
});

describe("borrowing", () => {
  const earlier = [
    { key: 1, version: 3, name: "Bob", content: "Where do you live these days?" },
    { key: 2, version: 7, name: "Bob", content: "And where does your younger sister live at the moment?" },
  ];

  test("borrowed items are named with their versions", async () => {
    const { chunks, borrowed } = await one({ item: item("In Lisbon."), earlier }, model(256), contextual);
    expect(chunks[0]?.text).toContain("these days?\nBob: And");
    expect(borrowed).toEqual([
      { key: 1, version: 3 },
      { key: 2, version: 7 },
    ]);
  });

  test("context that does not fit is not named: the oldest is dropped first, then half of the rest, then all", async () => {
    const carried = async (tokensMax: number) => {
      const { chunks, borrowed } = await one({ item: item("In Lisbon."), earlier }, model(tokensMax), contextual);
      return [chunks.map(({ text }) => text), borrowed.map(({ key }) => key)];
    };
    expect(await carried(80)).toEqual([
      ["Bob: And where does your younger sister live at the moment?\nAnn: In Lisbon."],
      [2],
    ]);
    expect(await carried(50)).toEqual([["Bob: sister live at the moment?\nAnn: In Lisbon."], [2]]);
    expect(await carried(30)).toEqual([["Ann: In Lisbon."], []]);
  });

  test("`message` borrows nothing", async () => {
    expect((await one({ item: item("In Lisbon."), earlier }, model(256))).borrowed).toEqual([]);
  });
});

describe("any text", () => {
  const nasty = fc.constantFrom(
    ..."a|b. |C! |? |\n|\r\n|\r| |  |\u3000|\u00A0|\u2028|。|!|中文字|かな|ไทยำ|ำ|क्ष|।|अ|ع|؟|\u0600|\u06DD|\u0D4E|\u0301|\u0301\u0302|\u200D|\uFE0F|👩|👨‍👩‍👧‍👦|🏽|🇩|🇩🇪|각|ᄀ|ᅡ|ᆨ|\u{110BD}|\uFFFD|1.|Dr. |http://a.b/c?d |word ".split(
      "|",
    ),
  );
  const content = fc.oneof(
    fc.array(nasty, { maxLength: 60 }).map((parts) => parts.join("")),
    fc.array(nasty, { minLength: 200, maxLength: 700 }).map((parts) => parts.join("")),
    fc.tuple(nasty, nasty, fc.integer({ min: 1, max: 900 })).map(([a, b, times]) => (a + b).repeat(times)),
    fc.string({ unit: "binary", maxLength: 1500 }),
  );
  const chunkable = fc.record({
    key: fc.nat(),
    version: fc.nat(),
    name: fc.string({ unit: "grapheme", maxLength: 30 }),
    content,
  });
  const request = fc.record({ item: chunkable, earlier: fc.array(chunkable, { maxLength: 2 }) });
  const strategy = fc.constantFrom(...CHUNK_STRATEGIES).map(chunkStrategy);
  const tokensMax = fc.constantFrom(12, 40, 128, 256, 8192);
  const bare = (text: string): string => text.replace(/\s/g, "");

  test("is covered, in order, by chunks that fit and split no grapheme", async () => {
    const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });
    await fc.assert(
      fc.asyncProperty(request, strategy, tokensMax, async (asked, chosen, most) => {
        const { chunks } = await one(asked, model(most), chosen);
        const text = asked.item.content;
        const starts = new Set([...graphemes.segment(text)].map(({ index }) => index)).add(text.length);
        let at = 0;
        for (const chunk of chunks) {
          expect(chunk.start).toBeGreaterThanOrEqual(at);
          expect(chunk.end).toBeGreaterThan(chunk.start);
          expect(bare(text.slice(at, chunk.start))).toBe("");
          expect(starts.has(chunk.start) && starts.has(chunk.end)).toBe(true);
          expect([...chunk.text].length + 2).toBeLessThanOrEqual(most);
          expect(bare(chunk.text)).not.toBe("");
          at = chunk.end;
        }
        expect(bare(text.slice(at))).toBe("");
      }),
      { numRuns: 400 },
    );
  });

  test("is contained in the chunks' texts word for word, unless a single grapheme is too long", async () => {
    await fc.assert(
      fc.asyncProperty(request, strategy, async (asked, chosen) => {
        for (const { start, end, text } of (await one(asked, model(8192), chosen)).chunks) {
          const own = asked.item.content.slice(start, end);
          if (own.length <= 450) expect(text.endsWith(own)).toBe(true);
        }
      }),
      { numRuns: 200 },
    );
  });

  test("gives the same chunks at any time and in any batch", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(request, { maxLength: 4 }), strategy, tokensMax, async (batch, chosen, most) => {
        const together = await chunkItems(chosen, batch, model(most));
        for (const [at, asked] of batch.entries()) expect(await one(asked, model(most), chosen)).toEqual(together[at]);
      }),
      { numRuns: 100 },
    );
  });

  test("gives the same chunks slice by slice, even if a slice has to be cut again", async () => {
    const slices = fc.array(fc.record({ bytes: fc.integer({ min: 1, max: 400 }), isTakenBack: fc.boolean() }));
    await fc.assert(
      fc.asyncProperty(request, strategy, tokensMax, slices, async (asked, chosen, most, sizes) => {
        const drafts = new Drafts(chosen, asked);
        const chunks: Chunk[] = [];
        const sources = new Map<number, Chunked["borrowed"][number]>();
        for (const { bytes, isTakenBack } of [...sizes, { bytes: Number.POSITIVE_INFINITY, isTakenBack: false }]) {
          const [own = []] = await nextDrafts([drafts], bytes);
          if (isTakenBack) drafts.putBack(own);
          const [slice] = isTakenBack ? [] : await fitDrafts([own], model(most));
          chunks.push(...(slice?.chunks ?? []));
          for (const source of slice?.borrowed ?? []) sources.set(source.key, source);
        }
        expect(drafts.isDone).toBe(true);
        const whole = await one(asked, model(most), chosen);
        expect(chunks).toEqual(whole.chunks);
        expect([...sources.keys()].sort()).toEqual(whole.borrowed.map(({ key }) => key).sort());
      }),
      { numRuns: 200 },
    );
  });
});

test("yields to other work while a long message is chunked", async () => {
  let turns = 0;
  let isDone = false;
  const others = () => {
    turns++;
    if (!isDone) setImmediate(others);
  };
  setImmediate(others);
  // Nothing is counted, so only yielding lets other work run.
  await one(alone("今天天气很好,我们去公园玩吧。".repeat(60_000)), model(100_000));
  isDone = true;
  expect(turns).toBeGreaterThan(3);
});
