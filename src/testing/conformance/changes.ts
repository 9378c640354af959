/** What changed in a space since a version: enough for a reader that has seen that version to be right again. */
import { expect } from "vitest";
import type { ChangesCursor, SpaceVersion } from "../../stores/store.js";
import type { SpaceRef } from "../../types.js";
import type { Check, CheckPersistent } from "./check.js";
import { ADA, BOB, type Probe, SECOND } from "./probe.js";

const NOTHING = { changed: [], removed: [], complete: true };

export function changes(check: Check, checkPersistent: CheckPersistent): void {
  check("names what was added and edited after a version, with its own version", async (probe) => {
    const first = await after(probe, ADA, () => probe.add(ADA, [{ id: "a" }, { id: "b" }]));
    const second = await after(probe, ADA, () => probe.add(ADA, [{ id: "c" }]));
    const third = await after(probe, ADA, () => probe.update(ADA, "a", { content: "edited" }));
    await probe.add(BOB, [{ id: "d" }]);
    expect(await changedSince(probe, ADA)).toEqual(["a@2", "b@1", "c@1"]);
    expect(await changedSince(probe, ADA, first)).toEqual(["a@2", "c@1"]);
    expect(await changedSince(probe, ADA, second)).toEqual(["a@2"]);
    expect(await changedSince(probe, ADA, third)).toEqual([]);
    expect(await changedSince(probe, BOB)).toEqual(["d@1"]);
    const { changed, ...rest } = await probe.changes(BOB);
    const his = await probe.cursor(BOB);
    expect(changed).toStrictEqual([{ id: "d", version: 1, spaceVersion: his?.version }]);
    expect(rest).toStrictEqual({ version: his, removed: [], complete: true });
    expect(await probe.changes({ user: "nobody" })).toStrictEqual({ version: undefined, ...NOTHING });
  });

  check("takes a cursor for each space, and answers for each, in order", async (probe) => {
    const hers = await after(probe, ADA, () => probe.add(ADA, [{ id: "a" }]));
    const his = await after(probe, BOB, () => probe.add(BOB, [{ id: "b" }]));
    await probe.add(ADA, [{ id: "c" }]);
    const cursors = [
      { space: BOB, since: his },
      { space: ADA, since: hers },
      { space: { user: "nobody" } },
      { space: ADA },
    ];
    const answers = await probe.store.changes(cursors);
    expect(answers.map(({ changed }) => changed.map(({ id }) => id).toSorted())).toEqual([[], ["c"], [], ["a", "c"]]);
    expect(answers.map(({ version }) => version)).toEqual(
      await probe.store.versions(cursors.map(({ space }) => space)),
    );
    expect(await probe.store.changes([])).toEqual([]);
  });

  check("names an item once, at its latest version", async (probe) => {
    await probe.add(ADA, [{ id: "a" }]);
    const before = await probe.cursor(ADA);
    for (const content of ["two", "three"]) await probe.update(ADA, "a", { content });
    await probe.add(ADA, [{ id: "a", content: "four" }], { existing: "replace" });
    for (const since of [undefined, before]) expect(await changedSince(probe, ADA, since)).toEqual(["a@4"]);
  });

  check("names what was edited among older and newer items that were not, and says by which version", async (probe) => {
    for (const id of ["a", "b", "c", "d"]) await probe.add(ADA, [{ id }]);
    const before = await probe.cursor(ADA);
    const edited = await after(probe, ADA, () => probe.update(ADA, "b", { content: "edited" }));
    const added = await after(probe, ADA, () => probe.add(ADA, [{ id: "e" }, { id: "f" }]));
    const both = await after(probe, ADA, () => probe.unit(...["a", "e"].map((id) => editing(id)), editing("a")));
    const told = async (since: SpaceVersion | undefined) => {
      const { changed } = await probe.changes(ADA, since);
      return Object.fromEntries(changed.map(({ id, spaceVersion }) => [id, spaceVersion]));
    };
    const all = { a: both?.version, b: edited?.version, e: both?.version, f: added?.version };
    expect(await told(before)).toEqual(all);
    const { b: _, ...later } = all;
    expect(await told(edited)).toEqual(later);
    expect(await told(added)).toEqual({ a: both?.version, e: both?.version });
    expect(await told(both)).toEqual({});
  });

  check("does not name what a failed or repeated unit did not change", async (probe) => {
    await probe.add(ADA, [{ id: "a" }]);
    const version = await probe.cursor(ADA);
    await probe.add(ADA, [{ id: "a" }]);
    await probe.commit([
      { op: "update", space: ADA, id: "a", patch: { content: "never" } },
      { op: "update", space: ADA, id: "not there", patch: {} },
    ]);
    expect(await probe.changes(ADA, version)).toEqual({ version, ...NOTHING });
  });

  check("counts what was removed after a version, and by which", async (probe) => {
    await probe.add(ADA, [{ id: "a" }, { id: "b" }, { id: "c", expiresAt: probe.now + SECOND }], { session: "s" });
    await probe.add(ADA, [{ id: "d" }, { id: "e" }]);
    await probe.add(BOB, [{ id: "a" }]);
    const [start, his] = [await probe.cursor(ADA), await probe.cursor(BOB)];
    const first = await after(probe, ADA, () => probe.forget({ space: ADA, ids: ["a"] }));
    probe.now += SECOND;
    await probe.forget({ expired: true });
    await probe.forget({ space: ADA, session: "s", entry: true });
    expect(await removedSince(probe, ADA, start)).toBe(3);
    expect(await removedSince(probe, ADA, first)).toBe(2);
    expect((await probe.changes(ADA, start)).removed).toContainEqual({ items: 1, spaceVersion: first?.version });
    expect(await removedSince(probe, BOB, his)).toBe(0);
    await probe.forget({ space: BOB, entry: false });
    expect(await removedSince(probe, BOB, his)).toBe(1);
    await probe.forget({ space: ADA, entry: false });
    expect(await removedSince(probe, ADA, start)).toBe(5);
    expect(await removedSince(probe, ADA, await probe.cursor(ADA))).toBe(0);
    expect(await changedSince(probe, ADA, start)).toEqual([]);
  });

  check("counts what was edited and then removed as removed, and no more", async (probe) => {
    await probe.add(ADA, [{ id: "a" }, { id: "b" }]);
    const start = await probe.cursor(ADA);
    await probe.unit(editing("a"), { op: "forget", target: { space: ADA, ids: ["a"] } });
    await probe.unit(editing("b"));
    await probe.forget({ space: ADA, ids: ["b"] });
    expect(await changedSince(probe, ADA, start)).toEqual([]);
    expect(await removedSince(probe, ADA, start)).toBe(2);
  });

  check("does not count removals that were undone", async (probe) => {
    await probe.add(ADA, [{ id: "a" }, { id: "b" }]);
    const before = await probe.cursor(ADA);
    await probe.forget({ space: ADA, ids: ["b"] });
    const start = await probe.cursor(ADA);
    await probe.fails(
      "not_found",
      { op: "forget", target: { space: ADA, ids: ["a"] } },
      { op: "update", space: ADA, id: "a", patch: {} },
    );
    expect(await probe.changes(ADA, start)).toEqual({ version: start, ...NOTHING });
    expect(await removedSince(probe, ADA, before)).toBe(1);
  });

  check("does not hide that a whole space was forgotten, even when its name is used again", async (probe) => {
    await probe.add(ADA, [{ id: "a" }, { id: "b" }]);
    const start = await probe.cursor(ADA);
    await probe.forget({ space: ADA, entry: true });
    expect(await probe.changes(ADA, start)).toEqual({ version: undefined, ...NOTHING, complete: false });
    for (const id of ["new", "newer", "newest"]) {
      await probe.add(ADA, [{ id }]);
      expect(await probe.changes(ADA, start), "whatever version the new space has").toMatchObject({ complete: false });
    }
    expect((await probe.changes(ADA, start)).changed.map(({ id }) => id).toSorted()).toEqual([
      "new",
      "newer",
      "newest",
    ]);
  });

  check("does not hide that a space was renamed: another space has its name, or none", async (probe) => {
    const lovelace = { user: "lovelace" };
    await probe.add(ADA, [{ id: "a" }, { id: "b" }]);
    await probe.add(BOB, [{ id: "his" }]);
    const [hers, his] = [await probe.cursor(ADA), await probe.cursor(BOB)];
    await probe.amend({ kind: "user", name: "ada" }, { name: "lovelace" });
    expect(await probe.changes(ADA, hers)).toEqual({ version: undefined, ...NOTHING, complete: false });
    expect(await changedSince(probe, lovelace), "new under the other name").toEqual(["a@1", "b@1"]);
    expect(await changedSince(probe, lovelace, hers), "known by what it is").toEqual([]);
    await probe.amend({ kind: "user", name: "bob" }, { name: "ada" });
    const swapped = await probe.changes(ADA, hers);
    expect(swapped).toMatchObject({ version: { id: his?.id }, changed: [{ id: "his" }], complete: false });
    await probe.amend({ kind: "user", name: "ada" }, { name: "bob" });
    expect(await changedSince(probe, BOB, his)).toEqual([]);
  });

  checkPersistent("misses no item when several handles commit in several spaces at once", async (probe, reopen) => {
    const spaces: readonly SpaceRef[] = [ADA, BOB, { team: "crew" }];
    const handles = [probe, probe.on(await reopen()), probe.on(await reopen())];
    const reader = probe.on(await reopen());
    const cursors: ChangesCursor[] = spaces.map((space) => ({ space }));
    const seen = new Map<string, Map<string, number>>(spaces.map((space) => [JSON.stringify(space), new Map()]));
    /** One look at all spaces: versions never go back, and what is told is newer than what was known. */
    const look = async () => {
      const answers = await reader.store.changes(cursors);
      for (const [at, { space, since }] of cursors.entries()) {
        const { version, changed, complete } = answers[at] ?? expect.fail("a cursor without an answer");
        expect(complete).toBe(true);
        expect(version?.version ?? 0).toBeGreaterThanOrEqual(since?.version ?? 0);
        for (const { id, version: told, spaceVersion } of changed) {
          expect(spaceVersion).toBeGreaterThan(since?.version ?? 0);
          expect(spaceVersion).toBeLessThanOrEqual(version?.version ?? 0);
          seen.get(JSON.stringify(space))?.set(id, told);
        }
        cursors[at] = { space, since: version };
      }
    };
    try {
      let underWay = handles.length;
      const writing = handles.map(async (handle, by) => {
        try {
          for (let round = 0; round < 30; round++) {
            const adds = spaces.filter((_, at) => (round + by) % (at + 1) === 0);
            await handle.commit(...adds.map((space) => [handle.adding(space, [{ id: `${by}-${round}` }])]));
            if (round % 3 === 2) await handle.update(ADA, `${by}-${round - 2}`, { content: "edited" });
          }
        } finally {
          underWay--;
        }
      });
      while (underWay > 0) await look();
      await Promise.all(writing);
      await look();
      for (const space of spaces) {
        const items = (await probe.list(space)).map(({ id, version }) => `${id}@${version}`);
        const told = [...(seen.get(JSON.stringify(space)) ?? [])].map(([id, version]) => `${id}@${version}`);
        expect(items.length).toBeGreaterThan(20);
        expect(told.toSorted()).toEqual(items.toSorted());
      }
    } finally {
      for (const handle of [...handles.slice(1), reader]) await handle.store.close();
    }
  });
}

const editing = (id: string) => ({ op: "update", space: ADA, id, patch: { content: "edited" } }) as const;

/** The version that something gives a space. */
async function after(probe: Probe, space: SpaceRef, work: () => Promise<unknown>): Promise<SpaceVersion | undefined> {
  await probe.grows([space], work);
  return probe.cursor(space);
}

async function changedSince(probe: Probe, space: SpaceRef, since?: SpaceVersion): Promise<readonly string[]> {
  const { changed, version, complete } = await probe.changes(space, since);
  expect(version).toEqual(await probe.cursor(space));
  expect(complete).toBe(true);
  for (const { spaceVersion } of changed) {
    expect(spaceVersion).toBeGreaterThan(version?.id === since?.id ? (since?.version ?? 0) : 0);
    expect(spaceVersion).toBeLessThanOrEqual(version?.version ?? 0);
  }
  return changed.map(({ id, version }) => `${id}@${version}`).toSorted();
}

async function removedSince(probe: Probe, space: SpaceRef, since?: SpaceVersion): Promise<number> {
  const { removed, complete } = await probe.changes(space, since);
  expect(complete).toBe(true);
  return removed.reduce((sum, { items }) => sum + items, 0);
}
