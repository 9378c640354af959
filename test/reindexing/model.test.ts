/**
 * Random operations before, during and after reindexes, on a store and on a plain model of it: after every step both
 * must report the same missing items, pending items, hits of either model, and counts.
 */
import fc from "fast-check";
import type { VectorSpace } from "holdfast";
import { type EmbeddedItem, type PendingItem, SqliteStore, type Store, type Unit } from "holdfast/stores";
import { searchVectors } from "holdfast/testing";
import { expect, it } from "vitest";
import { newPath } from "../support/opened.js";
import { rounded } from "../support/product.js";
import { type Fill, isRefused, PlainReindexing, type Step as PlainStep } from "./plain.js";

const RUNS = Number(process.env["HOLDFAST_TEST_REINDEX_RUNS"] ?? 8);
const NOW = Date.UTC(2026, 10, 16);
const ADA = { user: "ada" } as const;
const LANE = { space: ADA, session: "s" };
const OWNER = { id: "me", process: "none" };
const MODELS = ["a", "b", "c"] as const;
type Model = (typeof MODELS)[number];
const spaceOf = (model: string): VectorSpace => ({ model, runtime: "test", dimensions: 4 });

type Step = PlainStep<Model>;

const at = fc.nat(1000);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ do: "add" } as const) },
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom("edit", "touch", "forget"), at }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("embed" as const), count: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("begin" as const), model: fc.constantFrom(...MODELS) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("fill" as const),
      count: fc.integer({ min: 1, max: 4 }),
      how: fc.constantFrom("few", "all", "none"),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("switch" as const), missingMax: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("abandon", "maintain", "replay") }) },
);

/** A vector that tells the text, the lender's text and the model; rounded, because the store keeps 16 bits of a number. */
function vectorOf(...of: readonly string[]): Float32Array {
  let seed = 7;
  for (const letter of of.join("|")) seed = (seed * 31 + letter.charCodeAt(0)) % 65_521;
  const numbers = [seed % 97, seed % 89, seed % 83, 1 + (seed % 79)];
  const length = Math.hypot(...numbers);
  return rounded(new Float32Array(numbers.map((number) => number / length)));
}

const QUESTION = vectorOf("any");

/** Drives one store. Items are named in the order in which they were added. */
class Driver {
  readonly #store: Store;
  #model: Model = "a";
  #ids: string[] = [];
  #added = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  async run(step: Step): Promise<unknown> {
    const { next } = await this.#store.indexingStats();
    const nextSpace = next?.vectorSpace;
    switch (step.do) {
      case "add": {
        const id = `m${++this.#added}`;
        this.#ids.push(id);
        const item = {
          id,
          kind: "message",
          content: `text ${id}`,
          metadata: {},
          tier: "episodic",
          occurredAt: NOW,
        } as const;
        return this.#commit({ op: "add", space: ADA, session: "s", items: [item], existing: "same" });
      }
      case "edit":
      case "touch":
      case "forget": {
        const id = this.#ids[step.at % Math.max(1, this.#ids.length)];
        if (id === undefined) return undefined;
        if (step.do === "edit") {
          return this.#commit({
            op: "update",
            space: ADA,
            id,
            patch: { content: `edited ${id} ${step.at}`, parts: null },
          });
        }
        if (step.do === "touch") return this.#commit({ op: "update", space: ADA, id, patch: { tier: "working" } });
        this.#ids = this.#ids.filter((other) => other !== id);
        return this.#commit({ op: "forget", target: { space: ADA, ids: [id] } });
      }
      case "embed":
        return this.#embed(step.count);
      case "begin":
        return this.#commit({ op: "begin_reindex", vectorSpace: spaceOf(step.model) });
      case "fill":
        return nextSpace && this.#fill(nextSpace, step);
      case "switch": {
        if (!nextSpace) return undefined;
        const done = await this.#commit({ op: "switch_space", vectorSpace: nextSpace, missingMax: step.missingMax });
        const served = await this.#store.vectorSpace();
        if (served) this.#model = served.model as Model;
        return done;
      }
      case "abandon":
        return this.#commit({ op: "abandon_reindex" });
      case "replay":
        return this.#commit({ op: "replay", which: { space: ADA } });
      case "maintain":
        return this.#store.maintain(NOW);
    }
  }

  /** Embeds what waits, as the process with the served model does. */
  async #embed(count: number): Promise<unknown> {
    const claimed = await this.#commit({ op: "claim", owner: OWNER, lanes: [LANE], evict: [] });
    const [claim] = (claimed as { claims?: readonly ({ fence: number } | object)[] }).claims ?? [];
    if (!claim || !("fence" in claim)) return undefined;
    const request = { lanes: [{ lane: LANE }], limit: count, maxBytes: 1_000_000, now: NOW };
    const items = await this.#embedded((await this.#store.pending(request)).items, this.#model);
    const write = { op: "index", owner: OWNER.id, lane: LANE, fence: claim.fence, release: false } as const;
    return this.#commit({ ...write, vectorSpace: spaceOf(this.#model), items });
  }

  /**
   * Which ones are told first is the store's own affair. So of all that is missing the oldest few are written; or all of
   * it, a few at a time; or none, which moves on what the store has looked at.
   */
  async #fill(vectorSpace: VectorSpace, { count, how }: Fill): Promise<void> {
    const limit = how === "few" ? 1000 : count;
    const told = await this.#store.toReindex({ vectorSpace, limit, maxBytes: 1_000_000, now: NOW });
    const sorted = [...told.items].sort((one, other) => one.key - other.key);
    const taken = how === "none" ? [] : how === "few" ? sorted.slice(0, count) : sorted;
    const refused = taken.filter(({ content }) => isRefused(content));
    await this.#commit({
      op: "reindex",
      vectorSpace,
      range: told.range,
      items: await this.#embedded(
        taken.filter((item) => !refused.includes(item)),
        vectorSpace.model,
      ),
      refused: refused.map(({ key, version }) => ({ key, version, error: "refused" })),
    });
    if (how === "all" && told.items.length > 0) await this.#fill(vectorSpace, { count, how });
  }

  /** One chunk each; it carries the text of the message before it. */
  async #embedded(items: readonly PendingItem[], model: string): Promise<EmbeddedItem[]> {
    const earlier = await this.#store.earlier(
      items.map(({ key }) => key),
      1,
      NOW,
    );
    return items.map(({ key, version, content }, place) => {
      const lenders = earlier[place] ?? [];
      const vectors = vectorOf(model, content, ...lenders.map((lender) => lender.content));
      const borrowed = lenders.map((lender) => ({ key: lender.key, version: lender.version }));
      return { key, version, spans: [{ start: 0, end: content.length }], vectors, borrowed };
    });
  }

  async #commit(write: Unit[number]): Promise<unknown> {
    const { outcomes } = await this.#store.commit([[write]], NOW, "");
    const [outcome] = outcomes;
    return outcome?.ok ? outcome.done[0] : { code: outcome?.error.code };
  }

  /** All that can be seen, in an order of its own. */
  async view(): Promise<unknown> {
    const store = this.#store;
    const { next, ...stats } = await store.indexingStats();
    const { pending, parked, embedded, chunks, vectorSpace } = stats;
    const near = async (model: Model) => {
      const request = {
        spaces: [ADA],
        vectorSpace: spaceOf(model),
        vector: QUESTION,
        filter: {},
        limit: 1000,
        now: NOW,
      };
      const hits = await searchVectors(store, request);
      return hits.map(({ id, version, score }) => `${id} ${version} ${score.toFixed(4)}`).sort();
    };
    const missing =
      next && (await store.toReindex({ vectorSpace: next.vectorSpace, limit: 1000, maxBytes: 1e9, now: NOW }));
    const { items: waiting } = await store.pending({ lanes: [{ lane: LANE }], limit: 1000, maxBytes: 1e9, now: NOW });
    return {
      stats: { pending, parked, embedded, chunks, vectorSpace },
      next,
      near: await Promise.all(MODELS.map(near)),
      missing: missing?.items.map(({ id, version }) => `${id} ${version}`).sort(),
      waiting: waiting.map(({ id, version }) => `${id} ${version}`),
    };
  }
}

it(
  "a store tells what a plain model tells, whatever happens during a reindex",
  async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 45 }), async (steps) => {
        const path = run++ % 2 === 0 ? newPath() : ":memory:";
        const store = await SqliteStore.open({ path, busyTimeoutMs: 5_000 });
        try {
          const [driver, plain] = [new Driver(store), new PlainReindexing(vectorOf)];
          for (const given of [{ do: "embed", count: 1 } as const, ...steps]) {
            const [answered, expected] = [await driver.run(given), plain.run(given)];
            if (given.do === "begin" || given.do === "switch" || given.do === "abandon")
              expect(answered).toEqual(expected);
            expect(await driver.view(), JSON.stringify(given)).toEqual(plain.view(MODELS, QUESTION, spaceOf));
          }
        } finally {
          await store.close();
        }
      }),
      { numRuns: RUNS },
    );
  },
  60_000 + RUNS * 5_000,
);
