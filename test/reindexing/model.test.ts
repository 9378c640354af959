/**
 * Random operations before, during and after reindexes: the file and the store in memory, which share no code for this, must
 * tell the same after every step. What is missing, what waits, what is found by either model, what is counted.
 */
import fc from "fast-check";
import type { VectorSpace } from "holdfast";
import { type EmbeddedItem, MemoryStore, type PendingItem, SqliteStore, type Store, type Unit } from "holdfast/stores";
import { expect, it } from "vitest";
import { newPath } from "../support/opened.js";

const RUNS = Number(process.env["HOLDFAST_TEST_REINDEX_RUNS"] ?? 4);
const NOW = Date.UTC(2026, 10, 16);
const ADA = { user: "ada" } as const;
const LANE = { space: ADA, session: "s" };
const OWNER = { id: "me", process: "none" };
const MODELS = ["a", "b", "c"] as const;
type Model = (typeof MODELS)[number];
const spaceOf = (model: Model): VectorSpace => ({ model, runtime: "test", dimensions: 4 });

interface Fill {
  readonly count: number;
  readonly how: "few" | "all" | "none";
}

type Step =
  | { readonly do: "add" }
  | { readonly do: "edit" | "touch" | "forget"; readonly at: number }
  | { readonly do: "embed"; readonly count: number }
  | { readonly do: "begin"; readonly model: Model }
  | ({ readonly do: "fill" } & Fill)
  | { readonly do: "switch"; readonly missingMax: number }
  | { readonly do: "abandon" | "maintain" | "replay" };

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

/** A vector that tells the text, the lender's text and the model. */
function vectorOf(...of: readonly string[]): Float32Array {
  let seed = 7;
  for (const letter of of.join("|")) seed = (seed * 31 + letter.charCodeAt(0)) % 65_521;
  const numbers = [seed % 97, seed % 89, seed % 83, 1 + (seed % 79)];
  const length = Math.hypot(...numbers);
  return new Float32Array(numbers.map((number) => number / length));
}

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
    const items = await this.#embedded(await this.#store.pending(request), this.#model);
    const write = { op: "index", owner: OWNER.id, lane: LANE, fence: claim.fence, release: false } as const;
    return this.#commit({ ...write, vectorSpace: spaceOf(this.#model), items });
  }

  /**
   * Which ones are told first is each store's own affair. So of all that is missing the same few are written everywhere;
   * or all of it, a few at a time; or none, which moves on what the file has looked at.
   */
  async #fill(vectorSpace: VectorSpace, { count, how }: Fill): Promise<void> {
    const limit = how === "few" ? 1000 : count;
    const told = await this.#store.toReindex({ vectorSpace, limit, maxBytes: 1_000_000, now: NOW });
    const sorted = [...told.items].sort((one, other) => one.key - other.key);
    const taken = how === "none" ? [] : how === "few" ? sorted.slice(0, count) : sorted;
    const refused = taken.filter(({ content }) => content.endsWith("7")); // the new model does not like it
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

  /** All that can be seen, in an order that both stores share. */
  async view(): Promise<unknown> {
    const store = this.#store;
    const { next, ...stats } = await store.indexingStats();
    const { pending, parked, embedded, chunks, vectorSpace } = stats;
    const near = async (model: Model) => {
      const [space, vector] = [spaceOf(model), vectorOf("any")];
      const request = { spaces: [ADA], vectorSpace: space, vector, filter: {}, limit: 1000, now: NOW };
      const hits = await store.searchVectors(request);
      return hits.map(({ id, version, score }) => `${id} ${version} ${score.toFixed(5)}`).sort();
    };
    const missing =
      next && (await store.toReindex({ vectorSpace: next.vectorSpace, limit: 1000, maxBytes: 1e9, now: NOW }));
    const waiting = await store.pending({ lanes: [{ lane: LANE }], limit: 1000, maxBytes: 1e9, now: NOW });
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
  "the file and the store in memory tell the same, whatever happens during a reindex",
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 45 }), async (steps) => {
        const file = await SqliteStore.open({ path: newPath(), busyTimeoutMs: 5_000 });
        try {
          const [plain, filed] = [new Driver(new MemoryStore()), new Driver(file)];
          for (const given of [{ do: "embed", count: 1 } as const, ...steps]) {
            const [expected, answered] = [await plain.run(given), await filed.run(given)];
            if (given.do === "begin" || given.do === "switch" || given.do === "abandon")
              expect(answered).toEqual(expected);
            expect(await filed.view(), JSON.stringify(given)).toEqual(await plain.view());
          }
        } finally {
          await file.close();
        }
      }),
      { numRuns: RUNS },
    );
  },
  30_000 + RUNS * 5_000,
);
