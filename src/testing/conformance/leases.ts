/** Leases: one owner per lane, identified by a fence that only grows; no clock is involved. */
import { expect } from "vitest";
import { type Claim, OUTBOX } from "../../stores/indexing.js";
import type { Check } from "./check.js";
import { EAST, embedded, Indexer, LANE, OUTSIDE } from "./indexer.js";
import { ADA, BOB, DAY, type Probe } from "./probe.js";

export function leases(check: Check): void {
  check("gives each lane to one owner, and tells others who holds it", async (probe) => {
    const { me, other } = await two(probe);
    const fence = await me.claim(LANE);
    const [denied] = await other.claims([LANE]);
    expect(denied).toStrictEqual({ holder: { id: "me", process: "process of me", beat: expect.any(Number) } });
    expect(await probe.store.waiting("other", 10, probe.now)).toMatchObject([{ lane: LANE, ...denied }]);
    expect((await probe.store.waiting("me", 10, probe.now))[0], "not to the holder").not.toHaveProperty("holder");
    expect(await me.claim(LANE), "a lease that it has keeps its fence").toBe(fence);
    expect(await other.claim({ space: ADA, session: "t" })).toBeGreaterThan(fence);
  });

  check("answers one claim per lane, in order", async (probe) => {
    const { me, other } = await two(probe);
    const mine = await me.claim(LANE);
    await other.claim(OUTSIDE);
    const claims = await me.claims([{ space: BOB }, OUTSIDE, LANE, { space: ADA, session: "u" }, OUTBOX]);
    expect(claims).toMatchObject([{ gone: true }, { holder: { id: "other" } }, { fence: mine }, { gone: true }, {}]);
    expect(fenceOf(claims[4])).toBeGreaterThan(mine);
    expect(await me.claims([])).toEqual([]);
  });

  check("only increases fences, over all lanes and owners", async (probe) => {
    const { me, other } = await two(probe);
    const fences: number[] = [];
    for (let round = 0; round < 3; round++) {
      fences.push(await me.claim(LANE), await other.claim(OUTBOX), await me.claim(OUTSIDE));
      await me.release(LANE);
      fences.push(await other.claim(LANE));
      await me.release();
      await other.release();
    }
    expect(fences).toEqual(fences.toSorted((a, b) => a - b));
    expect(new Set(fences).size).toBe(fences.length);
  });

  check("ends the leases that are released, and no others", async (probe) => {
    const { me, other } = await two(probe);
    await me.claims([LANE, OUTSIDE]);
    await other.claim(OUTBOX);
    await me.release(LANE, OUTBOX, { space: BOB });
    expect(await other.claims([LANE, OUTSIDE])).toMatchObject([
      { fence: expect.any(Number) },
      { holder: { id: "me" } },
    ]);
    expect(await me.claims([OUTBOX])).toMatchObject([{ holder: { id: "other" } }]);
    expect(await me.beat(), "the owner is still known").toBe(true);
    await me.release();
    expect(await me.beat(), "all were released, and the owner with them").toBe(false);
    expect(await other.claims([OUTSIDE])).toMatchObject([{ fence: expect.any(Number) }]);
  });

  check("evicts an owner whose beat has not changed, with all its leases", async (probe) => {
    const { me, other } = await two(probe);
    const before = await me.claims([LANE, OUTSIDE, OUTBOX]);
    const silent = { owner: "me", beat: beatOf((await other.claims([LANE]))[0]) };
    const taken = await other.claims([LANE], [silent]);
    expect(fenceOf(taken[0])).toBeGreaterThan(Math.max(...before.map(fenceOf)));
    expect(await me.beat(), "the evicted owner learns of it").toBe(false);
    const third = new Indexer(probe, "third");
    expect(await third.claims([LANE, OUTSIDE, OUTBOX])).toMatchObject([
      { holder: { id: "other" } },
      { fence: expect.any(Number) },
      { fence: expect.any(Number) },
    ]);
  });

  for (const sign of ["beat", "claim"] as const) {
    check(`evicts no owner that has shown a ${sign} meanwhile`, async (probe) => {
      const { me, other } = await two(probe);
      const fence = await me.claim(LANE);
      const beat = beatOf((await other.claims([LANE]))[0]);
      if (sign === "beat") expect(await me.beat()).toBe(true);
      else await me.claims([]);
      const [denied] = await other.claims([LANE], [{ owner: "me", beat }]);
      expect(denied).toMatchObject({ holder: { id: "me" } });
      expect(beatOf(denied)).not.toBe(beat);
      expect(await me.claim(LANE)).toBe(fence);
    });
  }

  check("recognises an evicted owner that comes back by another beat", async (probe) => {
    const { me, other } = await two(probe);
    await me.claim(LANE);
    const beat = beatOf((await other.claims([LANE]))[0]);
    await other.claims([], [{ owner: "me", beat }]);
    await me.claim(LANE);
    const [denied] = await other.claims([LANE], [{ owner: "me", beat }]);
    expect(denied, "what was seen before the eviction is void").toMatchObject({ holder: { id: "me" } });
  });

  check("reports an unknown owner as not alive", async (probe) => {
    const { me, other } = await two(probe);
    expect(await me.beat()).toBe(false);
    expect(await me.beat(), "a beat does not make it known").toBe(false);
    await me.claim(LANE);
    expect(await me.beat()).toBe(true);
    await other.claims([LANE], [{ owner: "nobody", beat: 1 }]);
    expect(await me.beat()).toBe(true);
  });

  check("ends no lease by any clock", async (probe) => {
    const { me, other } = await two(probe);
    await me.claim(LANE);
    for (const ms of [365 * DAY, -2 * 365 * DAY]) {
      probe.now += ms;
      expect(await other.claims([LANE])).toMatchObject([{ holder: { id: "me" } }]);
    }
  });

  check("keeps a lease through renames of its lane, and ends it with the lane", async (probe) => {
    const { me, other } = await two(probe);
    const fence = await me.claim(LANE);
    await me.claim(OUTSIDE);
    await probe.amend({ kind: "session", name: "s", space: ADA }, { name: "u" });
    await probe.amend({ kind: "user", name: "ada" }, { name: "lovelace" });
    const space = { user: "lovelace" };
    expect(await other.claims([LANE, { space, session: "u" }, { space }])).toMatchObject([
      { gone: true },
      { holder: { id: "me" } },
      { holder: { id: "me" } },
    ]);
    expect(await me.claim({ space, session: "u" })).toBe(fence);
    await probe.forget({ space, session: "u", entry: true });
    expect(await me.claims([{ space, session: "u" }])).toEqual([{ gone: true }]);
    await probe.add(space, [{ id: "new" }], { session: "u" });
    expect(await other.claim({ space, session: "u" }), "a session of the same name is another one").toBeGreaterThan(
      fence,
    );
    await probe.forget({ space, entry: true });
    expect(await me.claims([{ space }])).toEqual([{ gone: true }]);
    await probe.add(space, [{ id: "new" }]);
    expect(fenceOf((await other.claims([{ space }]))[0])).toBeGreaterThan(fence);
  });

  check("keeps a lease when only the items of its lane are forgotten", async (probe) => {
    const { me, other } = await two(probe);
    const fence = await me.claim(LANE);
    await probe.forget({ space: ADA, session: "s", entry: false });
    expect(await other.claims([LANE])).toMatchObject([{ holder: { id: "me" } }]);
    expect(await me.claim(LANE)).toBe(fence);
  });

  check("refuses writes of an owner whose lease was taken, released or never granted", async (probe) => {
    const { me, other } = await two(probe);
    const fence = await me.claim(LANE);
    const item = await me.waiting(LANE, "x");
    const items = [embedded(item, [EAST])];
    const fenced = { written: [], fenced: true, released: false };
    expect(await other.index(LANE, fence, items), "another's fence").toMatchObject(fenced);
    expect(await me.index(LANE, fence - 1, items), "an older fence").toMatchObject(fenced);
    expect(await me.index(LANE, fence + 1, items), "a fence of the future").toMatchObject(fenced);
    expect(await me.park(LANE, fence - 1, [item])).toMatchObject({ parked: 0, fenced: true });
    const beat = beatOf((await other.claims([LANE]))[0]);
    const taken = fenceOf((await other.claims([LANE], [{ owner: "me", beat }]))[0]);
    expect(await me.index(LANE, fence, items, { release: true }), "evicted").toMatchObject(fenced);
    expect(await me.index(LANE, taken, items), "the new owner's fence").toMatchObject(fenced);
    await other.release(LANE);
    expect(await other.index(LANE, taken, items), "released").toMatchObject(fenced);
    expect(await other.park(LANE, taken, [item])).toMatchObject({ parked: 0, fenced: true });
    expect(await me.near([ADA], EAST)).toEqual([]);
    expect(await me.pendingIds(LANE)).toEqual(["x"]);
    expect(await me.index(LANE, await me.claim(LANE), items)).toMatchObject({ written: [item.key], fenced: false });
  });

  check("releases a lane with its last pending vectors", async (probe) => {
    const { me, other } = await two(probe);
    await probe.add(ADA, [{ id: "y" }, { id: "z" }], { session: "s" });
    const fence = await me.claim(LANE);
    const [x, y, z] = await me.pending(LANE);
    if (!x || !y || !z) throw new Error("nothing waits");
    const first = await me.index(LANE, fence, [embedded(x, [EAST])], { release: true });
    expect(first, "something waits").toMatchObject({ written: [x.key], released: false });
    await me.park(LANE, fence, [y]);
    const kept = await me.index(LANE, fence, [embedded(z, [EAST])]);
    expect(kept, "nothing waits, but nobody asked").toMatchObject({ written: [z.key], released: false });
    const last = await me.index(LANE, fence, [], { release: true });
    expect(last, "what is parked does not wait").toMatchObject({ written: [], fenced: false, released: true });
    expect(await me.beat()).toBe(true);
    expect(await other.claim(LANE)).toBeGreaterThan(fence);
  });

  check("remembers whether a group of leases was committed, and touches no space's version", async (probe) => {
    const { me } = await two(probe);
    const version = await probe.version(ADA);
    const claim = { op: "claim", owner: me.owner, lanes: [LANE], evict: [] } as const;
    await probe.store.commit([[claim]], probe.now, "claiming");
    await probe.store.reopen();
    expect(await probe.store.wasCommitted("claiming")).toBe(true);
    await probe.store.commit([[{ op: "release", owner: "me" }]], probe.now, "");
    expect(await probe.version(ADA)).toBe(version);
  });
}

/** Two owners; Ada's sessions "s", which has pending items, and "t". */
async function two(probe: Probe): Promise<{ readonly me: Indexer; readonly other: Indexer }> {
  await probe.register({ kind: "session", name: "t", space: ADA });
  await probe.add(ADA, [{ id: "x" }], { session: "s" });
  return { me: new Indexer(probe), other: new Indexer(probe, "other") };
}

function fenceOf(claim: Claim | undefined): number {
  if (claim && "fence" in claim) return claim.fence;
  throw new Error(`not a lease: ${JSON.stringify(claim)}`);
}

function beatOf(claim: Claim | undefined): number {
  if (claim && "holder" in claim) return claim.holder.beat;
  throw new Error(`not another's: ${JSON.stringify(claim)}`);
}
