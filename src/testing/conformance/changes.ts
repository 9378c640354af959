/** What changed since a commit: enough for a reader that has seen that commit to be right again. */
import { expect } from "vitest";
import type { SpaceRef } from "../../types.js";
import type { Check } from "./check.js";
import { ADA, BOB, type Probe, SECOND } from "./probe.js";

export function changes(check: Check): void {
  check("names what was added and edited after a commit, with its version", async (probe) => {
    const { commit: first } = await probe.commit([probe.adding(ADA, [{ id: "a" }, { id: "b" }])]);
    const { commit: second } = await probe.commit([probe.adding(ADA, [{ id: "c" }])]);
    await probe.update(ADA, "a", { content: "edited" });
    const { commit: third } = await probe.commit([probe.adding(BOB, [{ id: "d" }])]);
    expect(await changedSince(probe, [ADA], 0)).toEqual(["a@2", "b@1", "c@1"]);
    expect(await changedSince(probe, [ADA], first)).toEqual(["a@2", "c@1"]);
    expect(await changedSince(probe, [ADA], second)).toEqual(["a@2"]);
    expect(await changedSince(probe, [ADA], third)).toEqual([]);
    expect(await changedSince(probe, [BOB], second)).toEqual(["d@1"]);
    expect(await changedSince(probe, [ADA, BOB], second)).toEqual(["a@2", "d@1"]);
    expect(await changedSince(probe, [{ user: "nobody" }], 0)).toEqual([]);
    const { changed, ...rest } = await probe.store.changes([BOB], 0);
    expect(changed).toStrictEqual([{ space: BOB, id: "d", version: 1 }]);
    expect(rest).toStrictEqual({ commit: third, removed: 0, complete: true });
  });

  check("names an item once, at its latest version", async (probe) => {
    await probe.add(ADA, [{ id: "a" }]);
    for (const content of ["two", "three"]) await probe.update(ADA, "a", { content });
    await probe.add(ADA, [{ id: "a", content: "four" }], { existing: "replace" });
    expect(await changedSince(probe, [ADA], 0)).toEqual(["a@4"]);
  });

  check("does not name what a failed or repeated unit did not change", async (probe) => {
    await probe.add(ADA, [{ id: "a" }]);
    const { commit } = await probe.commit([probe.adding(BOB, [{ id: "b" }])]);
    await probe.add(ADA, [{ id: "a" }]);
    await probe.commit([
      { op: "update", space: ADA, id: "a", patch: { content: "never" } },
      { op: "update", space: ADA, id: "not there", patch: {} },
    ]);
    expect(await probe.store.changes([ADA], commit)).toEqual({ commit, changed: [], removed: 0, complete: true });
  });

  check("counts what was removed after a commit, from these spaces", async (probe) => {
    await probe.add(ADA, [{ id: "a" }, { id: "b" }, { id: "c", expiresAt: probe.now + SECOND }], { session: "s" });
    await probe.add(ADA, [{ id: "d" }, { id: "e" }]);
    await probe.add(BOB, [{ id: "a" }]);
    const start = await probe.commitNumber();
    await probe.forget({ space: ADA, ids: ["a"] });
    const afterFirst = await probe.commitNumber();
    probe.now += SECOND;
    await probe.forget({ expired: true });
    await probe.forget({ space: ADA, session: "s", entry: true });
    expect(await removedSince(probe, [ADA], start)).toBe(3);
    expect(await removedSince(probe, [ADA], afterFirst)).toBe(2);
    expect(await removedSince(probe, [BOB], start)).toBe(0);
    await probe.forget({ space: BOB, entry: false });
    expect(await removedSince(probe, [ADA, BOB], start)).toBe(4);
    await probe.forget({ space: ADA, entry: false });
    expect(await removedSince(probe, [ADA], start)).toBe(5);
    expect(await removedSince(probe, [ADA, BOB], await probe.commitNumber())).toBe(0);
    expect(await changedSince(probe, [ADA, BOB], start)).toEqual([]);
  });

  check("does not count removals that were undone", async (probe) => {
    await probe.add(ADA, [{ id: "a" }, { id: "b" }]);
    await probe.forget({ space: ADA, ids: ["b"] });
    const start = await probe.commitNumber();
    await probe.fails(
      "not_found",
      { op: "forget", target: { space: ADA, ids: ["a"] } },
      { op: "update", space: ADA, id: "a", patch: {} },
    );
    expect(await probe.store.changes([ADA], start)).toMatchObject({ changed: [], removed: 0 });
    expect(await removedSince(probe, [ADA], 0)).toBe(1);
  });

  check("tells of the commits that are meant, and of no others", async (probe) => {
    const { commit: start } = await probe.commit([probe.adding(ADA, [{ id: "a" }, { id: "b" }, { id: "c" }])]);
    const { commit: second } = await probe.commit([probe.adding(ADA, [{ id: "d" }])]);
    await probe.forget({ space: ADA, ids: ["a"] });
    const third = await probe.commitNumber();
    await probe.update(ADA, "d", { content: "edited", parts: null });
    await probe.forget({ space: ADA, ids: ["b", "c"] });
    const last = await probe.commitNumber();
    const told = async (upTo: number, without: readonly number[]) => {
      const { changed, removed, complete, commit } = await probe.store.changes([ADA], start, { upTo, without });
      expect([complete, commit]).toEqual([true, last]);
      return [...changed.map(({ id, version }) => `${id}@${version}`), removed];
    };
    expect(await told(last, [])).toEqual(["d@2", 3]);
    expect(await told(last, [third])).toEqual(["d@2", 2]);
    expect(await told(last, [third + 1, last])).toEqual([1]);
    expect(await told(third, []), "what was changed again later is told later").toEqual([1]);
    expect(await told(second, [])).toEqual([0]);
  });

  check("does not hide that a whole space was forgotten, also when its name is used again", async (probe) => {
    await probe.add(ADA, [{ id: "a" }, { id: "b" }]);
    const start = await probe.commitNumber();
    await probe.forget({ space: ADA, entry: true });
    const gone = await probe.store.changes([ADA], start);
    expect(gone.complete === false || gone.removed === 2, "removals counted, or start over").toBe(true);
    await probe.add(ADA, [{ id: "new" }]);
    const again = await probe.store.changes([ADA], start);
    expect(again.complete === false || again.removed === 2, "removals counted, or start over").toBe(true);
    expect(again.changed.map(({ id }) => id)).toEqual(["new"]);
  });

  check(
    "does not hide that a space was renamed: its items are new under one name, gone under the other",
    async (probe) => {
      await probe.add(ADA, [{ id: "a" }, { id: "b" }]);
      const start = await probe.commitNumber();
      await probe.amend({ kind: "user", name: "ada" }, { name: "lovelace" });
      const before = await probe.store.changes([ADA], start);
      expect(before.changed).toEqual([]);
      expect(before.complete === false || before.removed === 2, "removals counted, or start over").toBe(true);
      const after = await probe.store.changes([{ user: "lovelace" }], start);
      expect(after.complete === false || after.changed.length === 2, "items named, or start over").toBe(true);
      const now = await probe.commitNumber();
      const later = await probe.store.changes([{ user: "lovelace" }], now);
      expect(later).toEqual({ commit: now, changed: [], removed: 0, complete: true });
    },
  );
}

async function changedSince(probe: Probe, spaces: readonly SpaceRef[], since: number): Promise<readonly string[]> {
  const { changed, commit, complete } = await probe.store.changes(spaces, since);
  expect(commit).toBe(await probe.commitNumber());
  expect(complete).toBe(true);
  return changed.map(({ id, version }) => `${id}@${version}`).toSorted();
}

async function removedSince(probe: Probe, spaces: readonly SpaceRef[], since: number): Promise<number> {
  const { removed, complete } = await probe.store.changes(spaces, since);
  expect(complete).toBe(true);
  return removed;
}
