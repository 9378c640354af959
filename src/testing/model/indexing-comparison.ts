/** Compares a store with its plain model: the half about retrieval by meaning. */
import { expect } from "vitest";
import { type Claim, type IndexWrite, type Lane, OUTBOX, type OutboxRow } from "../../stores/indexing.js";
import type { Committed, Done, Store, Unit, Write } from "../../stores/store.js";
import type { SpaceRef } from "../../types.js";
import { searchVectors } from "../arms.js";
import { type IndexingOperation, OWNERS, type OwnerName, VECTORS } from "./indexing-operations.js";
import { SPACES } from "./operations.js";
import type { PlainItem } from "./plain-state.js";
import type { PlainStore } from "./plain-store.js";

const SPACE = { model: "four", runtime: "test", dimensions: 4 } as const;

/** What this half needs from the other, in its current state. */
export interface Pair {
  readonly store: () => Store;
  readonly model: PlainStore;
  readonly now: () => number;
  readonly send: (units: readonly Unit[]) => Promise<Committed>;
  /** Commits a unit to both, and compares outcomes and versions. */
  readonly commit: (units: readonly Unit[]) => Promise<void>;
  readonly compareVersions: () => Promise<unknown>;
}

type Operation<Do extends IndexingOperation["do"]> = Extract<IndexingOperation, { do: Do }>;

export class IndexingComparison {
  readonly #pair: Pair;
  readonly #prepared: IndexWrite[] = [];
  /** The contents of the external index: vectors by the item's key and the part. */
  readonly #points = new Map<string, readonly number[]>();
  #newestFence = 0;

  constructor(pair: Pair) {
    this.#pair = pair;
  }

  async run(one: IndexingOperation): Promise<void> {
    switch (one.do) {
      case "claim":
        return this.#claim(one);
      case "release":
        return this.#release(one);
      case "embed":
        return this.#embed(one);
      case "change":
        return this.#change(one);
      case "flush":
        return this.#flush(one);
      case "park":
        return this.#park(one);
      case "replay":
        return this.#replay(one);
      case "attach":
        return this.#attach(one);
      case "send":
        await this.#send(one.limit, one.refused);
        return;
      case "near":
        return this.#near(one);
    }
  }

  get #now(): number {
    return this.#pair.now();
  }

  get #indexing() {
    return this.#pair.model.indexing;
  }

  /**
   * The waiting items, newest first, must be those that the model has pending. This also learns the keys of new items.
   */
  async comparePending(): Promise<void> {
    const expected = this.#indexing.pending(this.#now).toReversed();
    const { items, more } = await this.#pair.store().tail({ spaces: SPACES, filter: {}, limit: 1000, now: this.#now });
    expect(more).toBe(false);
    expect(items.map(({ key: _key, ...rest }) => rest)).toEqual(expected.map((item) => this.#pendingItem(item)));
    for (const [at, item] of expected.entries()) {
      const key = items[at]?.key;
      expect(item.key ?? key, "an item keeps its key").toBe(key);
      item.key = key;
    }
    const keys = this.#indexing.items.flatMap(({ key }) => key ?? []);
    expect(keys, "keys are in the order of arrival").toEqual(keys.toSorted((a, b) => a - b));
  }

  #pendingItem(item: PlainItem) {
    const { name, content, id } = item.row;
    return {
      lane: this.#indexing.lane(item),
      id,
      version: item.version,
      ...(name !== undefined && { name }),
      content,
      ...(item.round !== undefined && { round: item.round }),
      recordedAt: item.recordedAt,
    };
  }

  #lane({ lane, otherwise }: { readonly lane: number; readonly otherwise: Lane }): Lane {
    const lanes = this.#indexing.lanes();
    return lanes[lane % lanes.length] ?? otherwise;
  }

  async #claim({ owner, other, ...place }: Operation<"claim">): Promise<void> {
    const lane = this.#lane(place);
    const claim = await this.#claimLane(owner, lane);
    if (!("holder" in claim) || other === "leave") return;
    const holder = claim.holder.id as OwnerName;
    if (other === "too late") {
      expect(await this.#write({ op: "beat", owner: ownerOf(holder) })).toEqual({ op: "beat", alive: true });
    } else {
      this.#indexing.release(holder);
    }
    await this.#claimLane(owner, lane, [{ owner: holder, beat: claim.holder.beat }]);
  }

  async #claimLane(owner: string, lane: Lane | typeof OUTBOX, evict: { owner: string; beat: number }[] = []) {
    const expected = this.#indexing.expectClaim(lane, owner);
    const done = await this.#write({ op: "claim", owner: ownerOf(owner), lanes: [lane], evict });
    const [claim] = done.op === "claim" ? done.claims : [];
    if (!claim) throw new Error("a claim was not answered as a claim");
    if ("fence" in expected && expected.fence === "new") {
      expect(fenceOf(claim), "a new fence is above all others").toBeGreaterThan(this.#newestFence);
      this.#newestFence = fenceOf(claim);
    } else if ("holder" in expected) {
      expect(claim).toMatchObject({ holder: ownerOf(expected.holder) });
    } else {
      expect(claim).toEqual(expected);
    }
    this.#indexing.claimed(lane, owner, claim);
    return claim;
  }

  async #release({ owner, all, ...place }: Operation<"release">): Promise<void> {
    const lane = this.#lane(place);
    await this.#write({ op: "release", owner, ...(!all && { lanes: [lane] }) });
    this.#indexing.release(owner, ...(all ? [] : [lane]));
  }

  async #embed({ owner, which, chunks, borrow, release, later, ...place }: Operation<"embed">): Promise<void> {
    const lane = this.#lane(place);
    if (this.#indexing.fence(lane, owner) === undefined) await this.#claimLane(owner, lane);
    const known = this.#indexing.known(lane, this.#now);
    const items = known.flatMap((item, at) => {
      if (which[at % which.length] !== true) return [];
      const vectors = (chunks[at % chunks.length] ?? []).map((vector) => VECTORS[vector] ?? []);
      const before = borrow ? known.slice(Math.max(0, at - 2), at) : [];
      return {
        key: item.key,
        version: item.version,
        spans: vectors.map((_, part) => ({ start: part, end: part + 1 })),
        vectors: new Float32Array(vectors.flat()),
        borrowed: before.map(({ key, version }) => ({ key, version })),
      };
    });
    const fence = this.#indexing.fence(lane, owner) ?? this.#newestFence;
    const write: IndexWrite = { op: "index", owner, lane, fence, vectorSpace: SPACE, items, release };
    if (later) this.#prepared.push(write);
    else await this.#pair.commit([[write]]);
  }

  async #change({ item, how, ...place }: Operation<"change">): Promise<void> {
    const lane = this.#lane(place);
    const known = this.#indexing.known(lane, this.#now);
    const found = known[item % known.length];
    if (!found) return;
    const { id, content } = found.row;
    const patch =
      how === "text"
        ? { content: `${content} sea`.slice(-20).toWellFormed(), parts: null }
        : { tier: "semantic" as const };
    if (how === "forget") await this.#pair.commit([[{ op: "forget", target: { space: lane.space, ids: [id] } }]]);
    else await this.#pair.commit([[{ op: "update", space: lane.space, id, patch }]]);
  }

  async #flush({ which }: Operation<"flush">): Promise<void> {
    const write = this.#prepared[which % this.#prepared.length];
    if (write) await this.#pair.commit([[write]]);
  }

  async #park({ owner, which, retryInMs, ...place }: Operation<"park">): Promise<void> {
    const lane = this.#lane(place);
    if (this.#indexing.fence(lane, owner) === undefined) await this.#claimLane(owner, lane);
    const retry = retryInMs === undefined ? {} : { retryAt: this.#now + retryInMs };
    const items = this.#indexing
      .known(lane, this.#now)
      .filter((_, at) => which[at % which.length])
      .map(({ key, version }) => ({ key, version, error: "too long", ...retry }));
    const fence = this.#indexing.fence(lane, owner) ?? this.#newestFence;
    await this.#pair.commit([[{ op: "park", owner, lane, fence, items }]]);
  }

  /** However many slices the store uses, the sum must be right. */
  async #replay({ space, ids }: Operation<"replay">): Promise<void> {
    const which = space ? { space, ...(ids && { ids }) } : ({ due: true } as const);
    const [outcome] = this.#pair.model.apply([[{ op: "replay", which }]], this.#now);
    let replayed = 0;
    for (let remaining = true; remaining; ) {
      const { outcomes } = await this.#pair.send([[{ op: "replay", which }]]);
      const [done] = outcomes[0]?.ok ? outcomes[0].done : [];
      if (done?.op !== "replay") throw new Error("a replay was not answered as a replay");
      expect(done.replayed > 0 || !done.remaining, "a slice with more to come takes something up").toBe(true);
      replayed += done.replayed;
      remaining = done.remaining;
    }
    expect({ done: [{ op: "replay", replayed, remaining: false }] }).toEqual(outcome);
    await this.#pair.compareVersions();
  }

  async #attach({ index }: Operation<"attach">): Promise<void> {
    const before = this.#indexing.attached;
    const isFree = this.#indexing.attach(index);
    for (let remaining = true; remaining; ) {
      const { versions, outcomes } = await this.#pair.send([[{ op: "attach", index }]]);
      expect(versions, "no answer changes").toEqual([]);
      const [outcome] = outcomes;
      if (!isFree) expect(outcome).toMatchObject({ ok: false, error: { code: "conflict" } });
      const [done] = outcome?.ok ? outcome.done : [];
      if (isFree) expect(done).toMatchObject({ op: "attach" });
      remaining = done?.op === "attach" && done.remaining;
    }
    if (before !== this.#indexing.attached) this.#points.clear();
  }

  /** Sends rows in the order in which they are handed out, or refuses the first of them. */
  async #send(limit: number, refused: boolean): Promise<number> {
    const claim = await this.#claimLane(OWNERS[0], OUTBOX);
    const rows = await this.#pair.store().outbox(limit, 1_000_000, this.#now);
    if (this.#indexing.attached === undefined) expect(rows).toEqual([]);
    if (!refused) for (const row of rows) this.#apply(row);
    const sent = refused ? [] : rows.map(({ sequence }) => sequence);
    const failed = rows.slice(0, refused ? 1 : 0).map(({ sequence }) => {
      return { sequence, error: "refused", retryAt: this.#now + 1000 };
    });
    const write = { op: "acknowledge", owner: OWNERS[0], fence: fenceOf(claim), sent, failed } as const;
    expect(await this.#write(write)).toEqual({ op: "acknowledge", fenced: false });
    return rows.length;
  }

  #apply({ key, change }: OutboxRow): void {
    for (let part = 0; part < change.parts; part++) {
      if (change.kind === "delete") this.#points.delete(`${key}/${part}`);
      else if (change.vectors) this.#points.set(`${key}/${part}`, [...change.vectors.subarray(part * 4, part * 4 + 4)]);
    }
  }

  async #near({ spaces, vector, filter, limit }: Operation<"near">): Promise<void> {
    const question = VECTORS[vector] ?? [];
    const expected = this.#scores(spaces, filter, question);
    const request = {
      spaces,
      vectorSpace: SPACE,
      vector: new Float32Array(question),
      filter,
      limit,
      now: this.#now,
    };
    const hits = await searchVectors(this.#pair.store(), request);
    const best = expected.slice(0, limit);
    expect(hits.map(({ key, version }) => [key, version])).toEqual(best.map(({ item }) => [item.key, item.version]));
    for (const [at, hit] of hits.entries()) expect(hit.score).toBeCloseTo(best[at]?.score ?? Number.NaN, 5);
    if (this.#indexing.attached === undefined) return;
    const unsent = await searchVectors(this.#pair.store(), {
      ...request,
      limit: 1000,
      outside: { items: [], unsent: [] },
    });
    const keys = new Set<number | undefined>(unsent.map(({ key }) => key));
    const lost = expected.filter(({ item }) => !this.#isMirrored(item) && !keys.has(item.key));
    expect(lost, "what neither the index knows nor the outbox").toEqual([]);
  }

  #scores(spaces: readonly SpaceRef[], filter: Operation<"near">["filter"], question: readonly number[]) {
    const visible = this.#pair.model
      .items(spaces, filter, this.#now)
      .map(({ space, id }) => JSON.stringify([space, id]));
    return this.#indexing.items
      .flatMap((item, arrival) => {
        const place = JSON.stringify([this.#indexing.lane(item).space, item.row.id]);
        const scores = item.embedding?.vectors.map((vector) => dot(vector, question)) ?? [];
        return visible.includes(place) && scores.length > 0 ? { item, arrival, score: Math.max(...scores) } : [];
      })
      .sort((a, b) => (Math.abs(a.score - b.score) < 1e-6 ? b.arrival - a.arrival : b.score - a.score));
  }

  #isMirrored({ key, embedding }: PlainItem): boolean {
    const points = embedding?.vectors.map((_, part) => this.#points.get(`${key}/${part}`));
    return JSON.stringify(points) === JSON.stringify(embedding?.vectors);
  }

  async compareEverything(): Promise<void> {
    await this.comparePending();
    const store = this.#pair.store();
    for (const [vector] of VECTORS.entries()) {
      await this.#near({ do: "near", spaces: SPACES, vector, filter: {}, limit: 1000 });
    }
    const parked = await store.parked({ spaces: SPACES, limit: 1000, now: this.#now });
    expect(parked).toEqual({ items: this.#indexing.parked(this.#now) });
    await this.#compareLanes();
    await this.#compareStats();
    await this.#compareIndex();
  }

  /** The lanes and their holders, as seen by an owner that holds none. */
  async #compareLanes(): Promise<void> {
    const lanes = await this.#pair.store().waiting("nobody", 1000, this.#now);
    const counted = lanes.map(({ lane, items, newest, holder }) => ({ lane, items, newest, holder: holder?.id }));
    const expected = new Map<string, { lane: Lane; items: number; newest: number; holder: string | undefined }>();
    for (const item of this.#indexing.pending(this.#now)) {
      const lane = this.#indexing.lane(item);
      const name = JSON.stringify(lane);
      const holder = OWNERS.find((owner) => this.#indexing.fence(lane, owner) !== undefined);
      expected.set(name, { lane, items: (expected.get(name)?.items ?? 0) + 1, newest: item.key ?? 0, holder });
    }
    expect(counted).toEqual([...expected.values()].toSorted((a, b) => b.newest - a.newest));
    for (const space of SPACES) for (const owner of OWNERS) await this.#claimLane(owner, { space });
  }

  async #compareStats(): Promise<void> {
    const stats = await this.#pair.store().indexingStats();
    const withVectors = this.#indexing.items.filter(({ embedding }) => embedding && embedding.vectors.length > 0);
    const index = this.#indexing.attached;
    expect(stats).toMatchObject({
      pending: this.#indexing.items.filter(({ embedding, parking }) => !embedding && !parking).length,
      parked: this.#indexing.items.filter(({ parking }) => parking).length,
      embedded: withVectors.length,
      chunks: withVectors.reduce((sum, { embedding }) => sum + (embedding?.vectors.length ?? 0), 0),
      ...(index !== undefined && { index }),
    });
    if (index === undefined) expect(stats).toMatchObject({ unsent: 0, unsentFailed: 0 });
  }

  /** When everything is sent, the external index contains exactly what the store contains. */
  async #compareIndex(): Promise<void> {
    if (this.#indexing.attached === undefined) return;
    const later = new IndexingComparison({ ...this.#pair, now: () => this.#now + 2000 });
    for (const [id, point] of this.#points) later.#points.set(id, point);
    later.#newestFence = this.#newestFence;
    while ((await later.#send(100, false)) > 0);
    const expected = this.#indexing.items.flatMap(({ key, embedding }) =>
      (embedding?.vectors ?? []).map((vector, part) => [`${key}/${part}`, vector] as const),
    );
    expect(later.#points).toEqual(new Map(expected));
    expect(await this.#pair.store().indexingStats()).toMatchObject({ unsent: 0, unsentFailed: 0 });
  }

  /** A write that changes nothing that a space's version is about. */
  async #write(write: Write): Promise<Done> {
    const { versions, outcomes } = await this.#pair.send([[write]]);
    expect(versions, "no answer changes").toEqual([]);
    const [outcome] = outcomes;
    if (!outcome?.ok || !outcome.done[0]) throw new Error(`a write failed that must not: ${JSON.stringify(outcome)}`);
    return outcome.done[0];
  }
}

function ownerOf(id: string) {
  return { id, process: `process of ${id}` };
}

function fenceOf(claim: Claim): number {
  if ("fence" in claim) return claim.fence;
  throw new Error(`not a lease: ${JSON.stringify(claim)}`);
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, place) => sum + value * (b[place] ?? 0), 0);
}
