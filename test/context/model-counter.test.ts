/** Contexts whose tokens are counted for a model, in the package's real thread. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import fc from "fast-check";
import * as o200k from "gpt-tokenizer/encoding/o200k_base";
import { SqliteStore } from "holdfast/stores";
import { FakeClock } from "holdfast/testing";
import { afterAll, describe, expect, it } from "vitest";
import type { Context } from "../../build/lib/context/context.js";
import type { ContextPath } from "../../build/lib/context/context-path.js";
import type { renderText } from "../../build/lib/context/render.js";
import type { ContextOptions, parseContext } from "../../build/lib/input/context.js";
import type { Write } from "../../build/lib/stores/store.js";
import type { Counters } from "../../build/lib/tokens/counters.js";
import type { Hit, Hits } from "../../build/lib/types.js";
import { root } from "../support/root.js";

const part = async (path: string): Promise<unknown> => import(pathToFileURL(join(root, "build/lib", path)).href);
const product = {
  ...((await part("context/context-path.js")) as { ContextPath: typeof ContextPath }),
  ...((await part("context/render.js")) as { renderText: typeof renderText }),
  ...((await part("input/context.js")) as { parseContext: typeof parseContext }),
  ...((await part("tokens/counters.js")) as { Counters: typeof Counters }),
};

const ADA = { user: "ada" };
const PLACE = { space: ADA, session: "s1" };
const counters = new product.Counters();
afterAll(() => counters.close());

/** As the model counts, with special tokens as text. */
const exact = (text: string): number => o200k.countTokens(text, { disallowedSpecial: new Set<string>() });

interface Given {
  readonly blocks: readonly string[];
  readonly turns: readonly string[];
  readonly others: readonly string[];
}

async function pathWith({ blocks, turns, others }: Given): Promise<(options: ContextOptions) => Promise<Context>> {
  const store = await SqliteStore.open({ path: ":memory:", busyTimeoutMs: 1_000 });
  const clock = new FakeClock();
  const commit = async (write: Write): Promise<void> => {
    const { outcomes } = await store.commit([[write]], clock.now(), "");
    expect(outcomes.map(({ ok }) => ok)).toEqual([true]);
  };
  const say = (content: string, session: string, id: string): Promise<void> => {
    const fixed = { kind: "message", role: "user", metadata: {}, tier: "episodic", occurredAt: clock.now() } as const;
    return commit({ op: "add", space: ADA, session, items: [{ ...fixed, id, content }], existing: "same" });
  };
  for (const [n, content] of blocks.entries()) {
    const fixed = { maxTokens: 4096, counter: "chars4", policy: "manual", readOnly: false } as const;
    const state = { ...fixed, name: `b${n}`, content };
    await commit({ op: "put_block", space: ADA, id: `b${n}`, expect: 0, state, reason: "" });
  }
  for (const [n, content] of turns.entries()) await say(content, "s1", `t${n}`);
  for (const [n, content] of others.entries()) await say(content, "old", `o${n}`);
  const items = await store.get(
    [ADA],
    others.map((_, n) => `o${n}`),
    clock.now(),
  );
  const hits = items.map((item): Hit => ({ ...item, score: 1, level: "store", scope: "cross_session" }));
  const path = new product.ContextPath({
    store,
    clock,
    counters,
    counter: "gpt-4o-mini",
    query: async (): Promise<Hits> => Object.assign([...hits], { partial: false }),
    facts: async () => [],
    noted: async () => undefined,
    write: async (write) => {
      await commit(write);
      return { op: "ledger" };
    },
  });
  return (options) => path.context(PLACE, product.parseContext(options, PLACE));
}

describe("a context counted by gpt-4o-mini's encoding", () => {
  it("has exactly the reported tokens, never more than its budget, and is not empty, for any text", async () => {
    const text = fc
      .array(
        fc.oneof(
          fc.string({ unit: "grapheme" }),
          fc.constantFrom(
            "I moved to Lisbon in May. ",
            "漢字仮名交じり文。",
            "👩‍👩‍👧‍👦🇵🇹",
            "<|endoftext|>",
            "\n> [cut]\n",
            "e\u0301\u0302 ",
          ),
        ),
        { minLength: 1, maxLength: 60 },
      )
      .map((parts) => `.${parts.join("").toWellFormed()}`);
    const given = fc.record({
      blocks: fc.array(text, { maxLength: 2 }),
      turns: fc.array(text, { minLength: 1, maxLength: 4 }),
      others: fc.array(text, { maxLength: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(given, fc.integer({ min: 30, max: 600 }), async (all, budgetTokens) => {
        const context = await pathWith(all);
        const { prefix, tail, tokens } = await context({ query: "lisbon", budgetTokens });
        const whole = product.renderText({ prefix, tail });
        expect(tokens).toMatchObject({ prefix: exact(prefix), tail: exact(tail), total: exact(whole) });
        expect(tokens.total).toBeLessThanOrEqual(budgetTokens);
        expect(whole).not.toBe("");
        expect(whole.isWellFormed()).toBe(true);
        expect(await (await pathWith(all))({ query: "lisbon", budgetTokens, turns: 0, fresh: true })).toMatchObject({
          prefix,
        });
      }),
      { numRuns: 60 },
    );
  });

  it("uses its budget: the rest is too small for the smallest piece that was left out", async () => {
    const sentence = "On Tuesdays she takes the tram to the market and buys sardines, bread and a little cheese.";
    const others = Array.from({ length: 60 }, (_, n) => `${n}. ${sentence}`);
    const context = await pathWith({ blocks: [], turns: [], others });
    const { tokens, added, left } = await context({ query: "market", budgetTokens: 1000 });
    expect(tokens.total).toBeLessThanOrEqual(1000);
    expect(tokens.total).toBeGreaterThan(1000 - 2 * Math.max(...added.map((item) => item.tokens)));
    expect(added.length + left.length).toBe(60);
  });
});
