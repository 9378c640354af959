/** Random lives of both engines on both stores, with a backend that fails and processes that start again. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { BufferStore } from "./buffer-store.js";
import type { ContextoBackend, Episode } from "./contexto-backend.js";
import { DefaultContextEngine } from "./default-context-engine.js";
import { InMemoryBufferStore } from "./in-memory-buffer-store.js";
import { SlidingWindowEngine } from "./sliding-window-engine.js";
import { SqliteBufferStore } from "./sqlite-buffer-store.js";

const calls = ["turn", "turn", "turn", "assemble", "compact", "dispose", "restart"] as const;
const steps = fc.array(
  fc.record({
    call: fc.constantFrom(...calls),
    /** The size of a turn, and which items are found. */
    picks: fc.array(fc.nat(12), { minLength: 1, maxLength: 5 }),
    fault: fc.constantFrom(undefined, undefined, "refused", "answer lost"),
    tokens: fc.nat(600),
    force: fc.boolean(),
  }),
  { maxLength: 40, size: "max" },
);
type Step = typeof steps extends fc.Arbitrary<(infer S)[]> ? S : never;

type Engine = typeof DefaultContextEngine<Message> | typeof SlidingWindowEngine<Message>;

const BUDGET = 400;
interface Message {
  readonly number: number;
  readonly text: string;
}
const numberOf = (messages: readonly unknown[]): number => (messages[0] as Message).number;

/** One engine and its successors on one buffer, and what must be true of them. */
class Life implements ContextoBackend<Message> {
  readonly #make: Engine;
  readonly #open: () => BufferStore;
  #buffer: BufferStore;
  #engine: InstanceType<Engine>;
  #turns = 0;
  /** Numbers of the turns that the backend has not confirmed. */
  #pending: number[] = [];
  readonly #injected = new Set<string>();
  readonly #arrived = new Map<string, string>();
  #step: Step | undefined;

  constructor(make: Engine, open: () => BufferStore) {
    this.#make = make;
    this.#open = open;
    this.#buffer = open();
    this.#engine = new make({ buffer: this.#buffer, backend: this });
  }

  async ingest(episodes: readonly Episode<Message>[]): Promise<void> {
    if (this.#step?.fault === "refused") throw new Error("refused");
    for (const episode of episodes) {
      const text = JSON.stringify(episode);
      expect(this.#arrived.get(episode.id) ?? text).toBe(text);
      this.#arrived.set(episode.id, text);
    }
    if (this.#step?.fault === "answer lost") throw new Error("answer lost");
  }

  async search(): Promise<{ id: string; content: string }[]> {
    if (this.#step?.fault === "refused") throw new Error("refused");
    return (this.#step?.picks ?? []).map((pick) => ({ id: `item ${pick}`, content: `<${pick}>` }));
  }

  async perform(step: Step): Promise<void> {
    this.#step = step;
    if (step.call === "turn") await this.#turn(step);
    if (step.call === "assemble") await this.#assemble(step);
    if (step.call === "compact") await this.#compact(step);
    if (step.call === "dispose") await this.#dispose(step.fault !== undefined);
    if (step.call === "restart") this.#restart();
    expect(this.#buffer.getAll().map(({ payload }) => numberOf(payload.data.messages))).toEqual(this.#pending);
    // Each turn is in the buffer or has arrived, and those that arrived did so in order.
    const arrived = [...this.#arrived.values()].map((text) =>
      numberOf((JSON.parse(text) as Episode<Message>).data.messages),
    );
    expect(arrived).toEqual(Array.from(arrived, (_, at) => at + 1));
    expect(new Set([...arrived, ...this.#pending]).size).toBe(this.#turns);
  }

  async end(): Promise<void> {
    this.#step = undefined;
    this.#restart();
    await this.#dispose(false);
    expect(this.#arrived.size).toBe(this.#turns);
    this.#buffer.close();
  }

  #restart(): void {
    this.#buffer = this.#open();
    this.#engine = new this.#make({ buffer: this.#buffer, backend: this });
  }

  async #turn({ picks }: Step): Promise<void> {
    const number = ++this.#turns;
    await this.#engine.afterTurn({ messages: picks.map((pick) => ({ number, text: "word ".repeat(pick) })) });
    this.#pending.push(number);
  }

  async #assemble({ picks, fault }: Step): Promise<void> {
    const { messages, error } = await this.#engine.assemble({ messages: [], prompt: "what?", tokenBudget: BUDGET });
    expect(error === undefined).toBe(fault !== "refused");
    const fresh = [...new Set(picks)].filter((pick) => !this.#injected.has(`item ${pick}`));
    const expected = fault === "refused" ? [] : fresh;
    const text = JSON.stringify(messages);
    expect([...text.matchAll(/<(\d+)>/g)].map(([, pick]) => Number(pick))).toEqual(expected);
    for (const pick of expected) this.#injected.add(`item ${pick}`);
  }

  async #compact({ tokens, force, fault }: Step): Promise<void> {
    const before = this.#pending;
    const compact = this.#engine.compact({ tokenBudget: BUDGET, currentTokenCount: tokens, force });
    const isSliding = this.#engine instanceof SlidingWindowEngine;
    const isDue = before.length > 0 && (!isSliding || force || (tokens > BUDGET / 2 && before.length > 1));
    if (isDue && fault) return expect(compact).rejects.toMatchObject({ code: "backend_failed" });
    const { compacted, result } = await compact;
    expect(compacted).toBe(isDue && isSliding);
    if (!isDue) return;
    if (!result) {
      this.#pending = [];
      return;
    }
    // The window holds the remaining turns: they fit the token limit, or there is only one.
    this.#pending = this.#pending.slice(this.#pending.length - this.#buffer.count());
    expect(this.#pending.length).toBeLessThan(before.length);
    expect(result.messages).toEqual(this.#buffer.getAll().flatMap(({ payload }) => payload.data.messages));
    if (this.#pending.length > 1) expect(result.tokensAfter).toBeLessThanOrEqual(BUDGET / 2);
    if (!force) expect(this.#pending.length).toBeGreaterThan(0);
  }

  async #dispose(fails: boolean): Promise<void> {
    if (fails && this.#pending.length > 0) {
      await expect(this.#engine.dispose()).rejects.toMatchObject({ code: "backend_failed" });
    } else {
      await this.#engine.dispose();
      this.#pending = [];
    }
    this.#restart();
  }
}

const KINDS: readonly [string, Engine][] = [
  ["a default engine", DefaultContextEngine],
  ["a sliding window", SlidingWindowEngine],
];

it.each(KINDS)("%s in memory loses nothing and injects nothing twice", async (_, make) => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const buffer = new InMemoryBufferStore({ session: "monday" });
      const life = new Life(make, () => buffer);
      for (const step of all) await life.perform(step);
      await life.end();
    }),
    { numRuns: 200 },
  );
});

it.each(KINDS)("%s on a file loses nothing and injects nothing twice, reopened or not", async (_, make) => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-engine-model-"));
  let files = 0;
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const path = join(folder, `buffer-${++files}.db`);
      let buffer: BufferStore | undefined;
      const life = new Life(make, () => {
        buffer?.close();
        buffer = new SqliteBufferStore(path, { session: "monday" });
        return buffer;
      });
      for (const step of all) await life.perform(step);
      await life.end();
    }),
    { numRuns: 20 },
  );
  rmSync(folder, { recursive: true });
});
