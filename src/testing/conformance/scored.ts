/** What ranking needs besides scores: attributes of found items, scores of given items, and who has spoken. */
import { expect } from "vitest";
import type { RowFilter } from "../../stores/store.js";
import type { SpaceRef } from "../../types.js";
import { type Scored, searchWords } from "../arms.js";
import type { Check } from "./check.js";
import { ADA, BOB, DAY, type Probe, SECOND } from "./probe.js";

export function scored(check: Check): void {
  check("returns references to current versions, and what ranking needs of them", async (probe) => {
    await probe.add(ADA, [{ id: "x", content: "lamp", role: "assistant", occurredAt: 100 }], { session: "s" });
    await probe.update(ADA, "x", { tier: "working", occurredAt: 200 });
    const { sessionId } = await probe.item(ADA, "x");
    expect(await probe.search(ADA, "lamp")).toStrictEqual([
      {
        space: ADA,
        key: expect.any(Number),
        id: "x",
        version: 2,
        score: expect.any(Number),
        role: "assistant",
        occurredAt: 200,
        sessionId,
      },
    ]);
    const { role: _role, ...knowledge } = probe.row({ id: "y", kind: "knowledge", content: "rope", occurredAt: 300 });
    await probe.unit({ op: "add", space: ADA, items: [knowledge], existing: "same" });
    expect(await probe.search(ADA, "rope"), "without role and session").toStrictEqual([
      { space: ADA, key: expect.any(Number), id: "y", version: 1, score: expect.any(Number), occurredAt: 300 },
    ]);
  });

  check(
    "tells until when an item is in any answer: its own expiry or the retention, whichever is first",
    async (probe) => {
      const until = async () => new Map((await probe.search(ADA, "lamp")).map((hit) => [hit.id, hit.until]));
      await probe.add(ADA, [
        { id: "for ever", content: "lamp" },
        { id: "brief", content: "lamp", expiresAt: probe.now + SECOND },
        { id: "long", content: "lamp", expiresAt: probe.now + 30 * DAY },
      ]);
      const start = probe.now;
      expect(await until()).toEqual(
        new Map([
          ["long", start + 30 * DAY],
          ["brief", start + SECOND],
          ["for ever", undefined],
        ]),
      );
      await probe.amend({ kind: "user", name: "ada" }, { retentionMs: DAY });
      expect(await until()).toEqual(
        new Map([
          ["long", start + DAY],
          ["brief", start + SECOND],
          ["for ever", start + DAY],
        ]),
      );
      await probe.update(ADA, "brief", { expiresAt: null });
      expect((await until()).get("brief")).toBe(start + DAY);
    },
  );

  check("scores exactly the items whose keys it is given, as a search would", async (probe) => {
    await fill(probe);
    const found = await probe.search(ADA, "lamp rope");
    const keys = await keysOf(probe, ADA);
    expect(keys.size).toBe(5);
    const some = ["far", "near", "lamp"].map((id) => keys.get(id) as number);
    const given = await score(probe, [ADA], some, { limit: 1 });
    expect(
      given.map(({ id }) => id),
      "whatever the limit, best first",
    ).toEqual(["lamp", "near", "far"]);
    expect(given.slice(0, 2)).toEqual(found.filter(({ id }) => id === "lamp" || id === "near"));
    expect(given[2], "also what no term leads to").toMatchObject({ id: "far", score: 0, role: "user" });
    const all = await score(probe, [ADA], [...keys.values(), ...keys.values()]);
    expect(all, "each once").toHaveLength(5);
    expect(all.filter((hit) => hit.score > 0)).toEqual(found);
  });

  check("scores given items with 0 for no terms and unknown ones, ties newest first", async (probe) => {
    await fill(probe);
    const keys = [...(await keysOf(probe, ADA)).values()];
    for (const query of ["", "unheard"]) {
      const hits = await score(probe, [ADA], keys, { query });
      expect(hits.map((hit) => hit.score)).toEqual([0, 0, 0, 0, 0]);
      expect(hits.map(({ key }) => key)).toEqual(keys.toSorted((a, b) => b - a));
    }
    expect(await score(probe, [ADA], [])).toEqual([]);
  });

  check("scores no given item that is elsewhere, gone, expired or filtered out", async (probe) => {
    await fill(probe);
    await probe.add(BOB, [{ id: "his", content: "lamp" }], { session: "s" });
    const hers = await keysOf(probe, ADA);
    const his = await keysOf(probe, BOB);
    const keys = [...hers.values(), ...his.values(), 987_654];
    const ids = async (spaces: readonly SpaceRef[], filter?: RowFilter) =>
      (await score(probe, spaces, keys, filter && { filter })).map(({ id }) => id).toSorted();
    expect(await ids([BOB])).toEqual(["his"]);
    expect(await ids([{ user: "nobody" }])).toEqual([]);
    expect(await ids([ADA, BOB, ADA])).toEqual(["far", "free", "his", "lamp", "near", "rope"]);
    expect(await ids([ADA], { roles: ["assistant"] })).toEqual(["near"]);
    expect(await ids([ADA], { sessions: ["s"] })).toEqual(["far", "lamp", "near"]);
    await probe.forget({ space: ADA, ids: ["rope"] });
    await probe.update(ADA, "lamp", { expiresAt: probe.now + SECOND });
    probe.now += SECOND;
    expect(await ids([ADA])).toEqual(["far", "free", "near"]);
    const [near] = await score(probe, [ADA], [hers.get("near") as number]);
    expect(near, "what has expired lends nothing here either").toMatchObject({ id: "near", score: 0 });
  });

  check("scores given items of several spaces by their own space", async (probe) => {
    await fill(probe);
    await probe.add(BOB, ["lamp lamp", "sea", "sea", "sea"], { session: "s" });
    const keys = [...(await keysOf(probe, ADA)).values(), ...(await keysOf(probe, BOB)).values()];
    const both = (await score(probe, [ADA, BOB], keys)).filter((hit) => hit.score > 0);
    expect(both).toEqual(await probe.search([ADA, BOB], "lamp rope"));
  });

  check("knows who has spoken, ignoring the case of A to Z", async (probe) => {
    const { store } = probe;
    await probe.add(ADA, [{ name: "Ann" }, { name: "José Ángel" }, { name: "ROBERT'); --" }, "nameless"]);
    const spoken = ["ann", "ANN", "josé Ángel", "JOSé ÁNGEL", "robert'); --"];
    const names = ["An", "Anna", ...spoken, "josé ángel", "JOSÉ ÁNGEL", "Ann ", "%", "", "user", "nameless"];
    expect(await store.speakers([ADA], names)).toEqual(spoken);
    expect(await store.speakers([ADA], [])).toEqual([]);
    expect(await store.speakers([], names)).toEqual([]);
  });

  check("does not know speakers of other spaces", async (probe) => {
    const { store } = probe;
    await probe.add(ADA, [{ name: "Ann" }]);
    await probe.add(BOB, [{ name: "Bert" }], { session: "s" });
    expect(await store.speakers([ADA], ["Bert", "Ann"])).toEqual(["Ann"]);
    expect(await store.speakers([BOB], ["Bert", "Ann"])).toEqual(["Bert"]);
    expect(await store.speakers([BOB, ADA, { user: "nobody" }], ["Bert", "Ann", "Cid"])).toEqual(["Bert", "Ann"]);
    expect(await store.speakers([{ user: "nobody" }], ["Bert", "Ann"])).toEqual([]);
  });

  check("forgets a speaker with their messages, and follows a change of name", async (probe) => {
    const { store } = probe;
    await probe.add(ADA, [
      { id: "x", name: "Ann" },
      { id: "y", name: "Ann" },
      { id: "z", name: "Bert" },
    ]);
    const speakers = () => store.speakers([ADA], ["Ann", "Bert", "Cid"]);
    await probe.forget({ space: ADA, ids: ["x"] });
    expect(await speakers()).toEqual(["Ann", "Bert"]);
    await probe.update(ADA, "y", { name: "Cid" });
    expect(await speakers()).toEqual(["Bert", "Cid"]);
    await probe.update(ADA, "z", { name: null });
    expect(await speakers()).toEqual(["Cid"]);
    await probe.forget({ space: ADA, entry: true });
    expect(await speakers()).toEqual([]);
  });
}

/** In session "s": a message with a lamp, one beside it, one out of reach. Elsewhere a rope, and one with neither. */
async function fill(probe: Probe): Promise<void> {
  const between = Array.from({ length: 4 }, (_, at) => `between-${at}`);
  await probe.add(
    ADA,
    [
      { id: "lamp", content: "an old lamp" },
      { id: "near", content: "fern", role: "assistant" },
      ...between.map((id) => ({ id })),
      { id: "far", content: "holly" },
    ],
    { session: "s" },
  );
  await probe.forget({ space: ADA, ids: between });
  await probe.add(ADA, [{ id: "rope", content: "rope and more rope in a long text" }], { session: "t" });
  await probe.add(ADA, [{ id: "free", content: "iris" }]);
}

async function keysOf(probe: Probe, space: SpaceRef): Promise<Map<string, number>> {
  const { items } = await probe.store.tail({ spaces: [space], filter: {}, limit: 100, now: probe.now });
  return new Map(items.map(({ id, key }) => [id, key]));
}

function score(
  probe: Probe,
  spaces: readonly SpaceRef[],
  keys: readonly number[],
  { query = "lamp rope", filter = {}, limit = 100 }: { query?: string; filter?: RowFilter; limit?: number } = {},
): Promise<readonly Scored[]> {
  return searchWords(probe.store, { spaces, terms: probe.terms(query), filter, limit, now: probe.now, keys });
}
