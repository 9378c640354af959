/** The old vectors after a switch: no search uses them, a forget reaches them, and housekeeping removes them. */
import { type EmbeddedItem, type PendingItem, SqliteStore, type Unit } from "holdfast/stores";
import { describe, expect, it } from "vitest";
import { newPath } from "../support/opened.js";
import { Random } from "../support/random.js";
import { commitsOf, openRaw } from "../support/raw.js";
import { isInFiles, vectorRows } from "./vector-tables.js";

const NOW = Date.UTC(2026, 10, 16);
const ADA = { user: "ada" } as const;
const LANE = { space: ADA, session: "s" };
const spaceOf = (model: string) => ({ model, runtime: "test", dimensions: 64 });
const random = new Random(11);
const vector = (): Float32Array => new Float32Array(Array.from({ length: 64 }, () => random.fraction() - 0.5));

const embed = ({ key, version }: PendingItem, vectors: Float32Array): EmbeddedItem => {
  return { key, version, spans: [{ start: 0, end: 1 }], vectors, borrowed: [] };
};

class Bench {
  readonly store: SqliteStore;
  /** By model and then by the place of the item. */
  readonly vectors: { readonly [model: string]: Float32Array[] } = { old: [], new: [] };

  constructor(store: SqliteStore) {
    this.store = store;
  }

  async unit<Op extends Unit[number]["op"]>(write: Extract<Unit[number], { op: Op }>) {
    const [outcome] = (await this.store.commit([[write as Unit[number]]], NOW, "")).outcomes;
    if (!outcome?.ok) throw new Error(outcome?.error.message);
    return outcome.done[0] as unknown;
  }

  /** So many items with vectors of both models; the new ones are served from the end on. */
  async switchOver(count: number): Promise<void> {
    const items = Array.from({ length: count }, (_, at) => {
      const id = `m${at}`;
      return { id, kind: "message", content: id, metadata: {}, tier: "episodic", occurredAt: NOW } as const;
    });
    await this.unit({ op: "add", space: ADA, session: "s", items, existing: "same" });
    const claim = { op: "claim", owner: { id: "me", process: "" }, lanes: [LANE], evict: [] } as const;
    const [{ fence }] = ((await this.unit(claim)) as { claims: [{ fence: number }] }).claims;
    const { items: pending } = await this.store.pending({
      lanes: [{ lane: LANE }],
      limit: count,
      maxBytes: 1e9,
      now: NOW,
    });
    const of = (model: string, items: readonly PendingItem[]) =>
      items.map((item) => {
        const made = vector();
        this.vectors[model]?.push(made);
        return embed(item, made);
      });
    const write = { op: "index", owner: "me", lane: LANE, fence, release: true } as const;
    await this.unit({ ...write, vectorSpace: spaceOf("old"), items: of("old", pending) });
    await this.unit({ op: "begin_reindex", vectorSpace: spaceOf("new") });
    const request = { vectorSpace: spaceOf("new"), limit: count, maxBytes: 1e9, now: NOW };
    const { items: missing, range } = await this.store.toReindex(request);
    await this.unit({ op: "reindex", vectorSpace: spaceOf("new"), range, items: of("new", missing), refused: [] });
    await this.unit({ op: "switch_space", vectorSpace: spaceOf("new"), missingMax: 0 });
  }
}

describe("old vectors, after the switch", () => {
  it("go with an item that is forgotten before they are removed, with their bytes", async () => {
    const path = newPath();
    const bench = new Bench(await SqliteStore.open({ path, busyTimeoutMs: 5_000 }));
    await bench.switchOver(50);
    const [secret, other] = [bench.vectors["old"]?.[7], bench.vectors["old"]?.[8]] as [Float32Array, Float32Array];
    expect([isInFiles(path, secret), isInFiles(path, other)]).toEqual([true, true]);
    await bench.unit({ op: "forget", target: { space: ADA, ids: ["m7"] } });
    expect(await bench.store.purge(5_000)).toEqual({ purged: true, left: [] });
    expect(isInFiles(path, secret)).toBe(false);
    expect(isInFiles(path, bench.vectors["new"]?.[7] as Float32Array)).toBe(false);
    expect(isInFiles(path, other), "nobody has forgotten that one").toBe(true);
    expect(vectorRows(path)).toEqual({ old: 49, new: 49 });
    await bench.store.close();
  });

  it("are removed a slice at a time by the next process that does the housekeeping", async () => {
    const path = newPath();
    const first = new Bench(await SqliteStore.open({ path, busyTimeoutMs: 5_000 }));
    await first.switchOver(700);
    await first.store.close();
    expect(vectorRows(path)).toEqual({ old: 700, new: 700 });
    const second = await SqliteStore.open({ path, busyTimeoutMs: 5_000 });
    const before = commitsOf(path);
    await second.maintain(NOW);
    expect(commitsOf(path) - before, "several transactions").toBeGreaterThan(1);
    expect(vectorRows(path)).toEqual({ new: 700 });
    const after = commitsOf(path);
    await second.maintain(NOW);
    expect(commitsOf(path), "nothing is left to do").toBe(after);
    await second.close();
    expect(isInFiles(path, first.vectors["old"]?.[3] as Float32Array)).toBe(false);
  });

  it("leave an item that waited for the old model as embedded, however many there are", async () => {
    const path = newPath();
    const bench = new Bench(await SqliteStore.open({ path, busyTimeoutMs: 5_000 }));
    await bench.unit({ op: "begin_reindex", vectorSpace: spaceOf("new") });
    const items = Array.from({ length: 1500 }, (_, at) => {
      return { id: `w${at}`, kind: "message", content: "w", metadata: {}, tier: "episodic", occurredAt: NOW } as const;
    });
    await bench.unit({ op: "add", space: ADA, session: "s", items, existing: "same" });
    const request = { vectorSpace: spaceOf("new"), limit: 2000, maxBytes: 1e9, now: NOW };
    const { items: missing, range } = await bench.store.toReindex(request);
    const written = missing.map((item) => embed(item, vector()));
    await bench.unit({ op: "reindex", vectorSpace: spaceOf("new"), range, items: written, refused: [] });
    await bench.unit({ op: "switch_space", vectorSpace: spaceOf("new"), missingMax: 0 });
    expect((await bench.store.indexingStats()).pending, "a slice of them is done with the switch").toBe(1500 - 1024);
    await bench.unit({ op: "update", space: ADA, id: "w1499", patch: { content: "edited", parts: null } });
    await bench.store.maintain(NOW);
    expect(await bench.store.indexingStats()).toMatchObject({ pending: 1, embedded: 1499, chunks: 1499 });
    await bench.store.close();
    const raw = openRaw(path);
    expect(raw.prepare("SELECT settling, next_space FROM head").get()).toEqual({ settling: 0, next_space: 0 });
    raw.close();
  });
});
