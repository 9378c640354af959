/** Cutting text to a budget, counted as a model counts, in the package's real thread. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import type { splitOverflow } from "../../build/lib/blocks/overflow.js";
import type { Counters } from "../../build/lib/tokens/counters.js";
import type { CountingThread } from "../../build/lib/tokens/thread.js";
import { root } from "../support/root.js";

const part = async (name: string): Promise<unknown> =>
  import(pathToFileURL(join(root, "build/lib", `${name}.js`)).href);

const product = {
  ...((await part("tokens/counters")) as { Counters: typeof Counters }),
  ...((await part("tokens/thread")) as { CountingThread: typeof CountingThread }),
  ...((await part("blocks/overflow")) as { splitOverflow: typeof splitOverflow }),
};

const counters = new product.Counters();
const counter = counters.of("gpt-4o-mini");
const graphemesOf = (text: string): string[] =>
  [...new Intl.Segmenter("en", { granularity: "grapheme" }).segment(text)].map(({ segment }) => segment);

describe("a block counted for a model", () => {
  afterAll(() => counters.close());

  it("keeps what fits, in whole characters, and loses nothing, for any text and budget", async () => {
    const text = fc
      .array(
        fc.oneof(
          fc.string({ unit: "grapheme", maxLength: 40 }),
          fc.lorem({ maxCount: 20 }),
          fc.constantFrom("A line.\n", "A sentence. ", "👨‍👩‍👧‍👦", "e\u0301", "\r\n", "句子。", "internationalisation"),
        ),
        { maxLength: 20 },
      )
      .map((parts) => parts.join(""));
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 80 }), async (content, maxTokens) => {
        const split = await product.splitOverflow(content, maxTokens, counter);
        const [whole = Number.NaN, kept = Number.NaN] = await counter.count([content, split?.kept ?? ""]);
        expect(split === undefined).toBe(whole <= maxTokens);
        if (!split) return;
        expect(split.kept + split.overflow).toBe(content);
        expect(kept).toBeLessThanOrEqual(maxTokens);
        expect([...graphemesOf(split.kept), ...graphemesOf(split.overflow)]).toEqual(graphemesOf(content));
      }),
      { numRuns: 150 },
    );
  });

  it("keeps nothing if the budget is too small for its first character", async () => {
    const content = "👨‍👩‍👧‍👦 family";
    const [tokens = 0] = await counter.count(["👨‍👩‍👧‍👦"]);
    expect(tokens).toBeGreaterThan(1);
    expect(await product.splitOverflow(content, 1, counter)).toEqual({ kept: "", overflow: content });
    expect((await product.splitOverflow(content, tokens, counter))?.kept).toBe("👨‍👩‍👧‍👦");
  });

  it("is cut to a budget of thousands of tokens from a megabyte without a blank", async () => {
    for (const unit of ["漢字仮名", "👨‍👩‍👧‍👦", "a", "e\u0301"]) {
      const content = unit.repeat(Math.ceil(1_000_000 / unit.length));
      const { kept = "", overflow = "" } = (await product.splitOverflow(content, 4096, counter)) ?? {};
      expect(kept.length + overflow.length).toBe(content.length);
      const [tokens = Number.NaN, more = Number.NaN] = await counter.count([
        kept,
        content.slice(0, kept.length + unit.length),
      ]);
      expect(tokens).toBeLessThanOrEqual(4096);
      expect(more).toBeGreaterThan(4096);
    }
  });
});

describe("counters by name", () => {
  it("share one counter for all models of an encoding, and end its thread on close", async () => {
    const own = new product.Counters();
    const isRunning = async (): Promise<boolean> => {
      const thread = product.CountingThread.acquire("cl100k_base");
      const { isRunning } = thread;
      await thread.release();
      return isRunning;
    };
    const [first, second] = [own.of("gpt-4"), own.of("text-embedding-3-small")];
    expect(await isRunning()).toBe(false);
    expect(await first.count(["two words"])).toEqual([2]);
    expect(await second.count(["two words", ""])).toEqual([2, 0]);
    expect(await isRunning()).toBe(true);
    const underWay = second.count(["one"]);
    await own.close();
    expect(await underWay).toEqual([1]);
    expect(await isRunning()).toBe(false);
    await expect(first.count(["late"])).rejects.toMatchObject({ code: "closed" });
  });
});
