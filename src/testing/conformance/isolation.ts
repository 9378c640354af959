/** Isolation: no read, score, version or name leaks from one space to another. */
import { expect } from "vitest";
import type { SpaceRef } from "../../types.js";
import type { Check } from "./check.js";
import { ADA, BOB, SECOND } from "./probe.js";

/** Spaces that a careless key, prefix, case rule, pattern or normalisation would confuse. */
const ALIKE: readonly SpaceRef[] = [
  { user: "ann" },
  { agent: "ann" },
  { team: "ann" },
  { user: "anna" },
  { user: "an" },
  { user: "Ann" },
  { user: "ann " },
  { user: " ann" },
  { user: "ann'" },
  { user: 'ann"' },
  { user: "ann%" },
  { user: "a_n" },
  { user: "%" },
  { user: "*" },
  { user: "ann:x" },
  { user: "user:ann" },
  { user: "user ann" },
  { user: "1" },
  { user: "01" },
  { user: "1.0" },
  { user: "null" },
  { user: "undefined" },
  { user: "__proto__" },
  { user: "constructor" },
  { user: "\u00e9" },
  { user: "e\u0301" },
  { user: "ß" },
  { user: "ss" },
];

export function isolation(check: Check): void {
  check("keeps spaces apart whose names are almost equal", async (probe) => {
    for (const [at, space] of ALIKE.entries()) {
      await probe.add(space, [{ id: "same id", content: `lamp ${at}` }], { session: "same session" });
    }
    for (const [at, space] of ALIKE.entries()) {
      const what = JSON.stringify(space);
      const [item, ...others] = await probe.get(space, "same id");
      expect(item, what).toMatchObject({ space, content: `lamp ${at}`, sequence: 1, version: 1 });
      expect(others, what).toEqual([]);
      expect(await probe.contents(space), what).toEqual([`lamp ${at}`]);
      expect(await probe.search(space, "lamp"), what).toMatchObject([{ space, id: "same id" }]);
      expect(await probe.sessionNames(space), what).toEqual(["same session"]);
    }
    await probe.forget({ space: { user: "ann" }, entry: true });
    expect(await probe.list(ALIKE)).toHaveLength(ALIKE.length - 1);
    expect(await probe.found(ALIKE, "lamp")).toHaveLength(ALIKE.length - 1);
  });

  check("reads exactly the given spaces", async (probe) => {
    const crew: SpaceRef = { team: "crew" };
    await probe.add(ADA, [{ id: "a", content: "lamp" }]);
    await probe.add(BOB, [{ id: "b", content: "lamp" }]);
    await probe.add(crew, [{ id: "c", content: "lamp" }]);
    expect(await probe.ids([ADA, crew])).toEqual(["a", "c"]);
    expect((await probe.found([ADA, crew], "lamp")).toSorted()).toEqual(["a", "c"]);
    expect((await probe.get([ADA, crew], "a", "b", "c")).map(({ id }) => id).toSorted()).toEqual(["a", "c"]);
    const changes = await probe.store.changes([{ space: ADA }, { space: crew }]);
    expect(changes.map(({ changed }) => changed.map(({ id }) => id))).toEqual([["a"], ["c"]]);
  });

  check("changes no scores, order, versions or sequences of one space by writes to another", async (probe) => {
    const notes = ["a lamp by the sea", "the sea, the sea", "rope and lamp", "lamp", "an old house"];
    for (const content of notes) await probe.add(ADA, [content], { session: "s", agent: "tutor" });
    const read = async () => ({
      hits: await probe.search(ADA, "lamp sea house"),
      best: await probe.search(ADA, "lamp sea house", { limit: 2 }),
      items: await probe.list(ADA),
      version: await probe.version(ADA),
      changes: await probe.changes(ADA),
    });
    const before = await read();
    expect(before.hits.length).toBeGreaterThan(3);
    for (let round = 0; round < 30; round++) {
      const drafts = Array.from(
        { length: 10 },
        (_, at) => `lamp lamp sea ${round} house ${at} and more and more words`,
      );
      await probe.add(BOB, drafts, { session: "s", agent: "tutor" });
    }
    expect(await read()).toEqual(before);
    const bobs = await probe.ids(BOB);
    await probe.update(BOB, bobs[0] as string, { content: "sea", parts: null });
    await probe.forget({ space: BOB, ids: bobs.slice(1, 100) });
    await probe.amend({ kind: "user", name: "bob" }, { name: "robert", retentionMs: SECOND });
    await probe.forget({ space: { user: "robert" }, entry: true });
    expect(await read()).toEqual(before);
    expect(await probe.add(ADA, ["next"], { session: "s" })).toMatchObject({ sequences: [notes.length + 1] });
  });

  check("changes and forgets nothing of another space", async (probe) => {
    await probe.add(ADA, [{ id: "x", content: "hers" }], { session: "s" });
    await probe.add(BOB, [{ id: "x", content: "his" }], { session: "s" });
    await probe.update(BOB, "x", { content: "edited", parts: null });
    await probe.amend({ kind: "session", name: "s", space: BOB }, { name: "t" });
    expect(await probe.item(ADA, "x")).toMatchObject({ content: "hers", version: 1, session: "s" });
    await probe.forget({ space: BOB, session: "t", entry: true });
    await probe.forget({ space: BOB, ids: ["x"] });
    await probe.forget({ space: BOB, entry: true });
    expect(await probe.contents(ADA)).toEqual(["hers"]);
    expect(await probe.sessionNames(ADA)).toEqual(["s"]);
  });
}
