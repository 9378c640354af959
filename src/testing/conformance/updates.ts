/** Edits: what they change, what they keep, and what they refuse. */
import { expect } from "vitest";
import type { NewRow, UpdateWrite } from "../../stores/store.js";
import type { Check } from "./check.js";
import { ADA, BOB, DAY, SECOND } from "./probe.js";

const FULL: Partial<NewRow> & { readonly id: string } = {
  id: "x",
  role: "user",
  name: "Ann",
  content: "the lamp",
  parts: [{ type: "text", text: "the lamp" }],
  metadata: { color: "red" },
  tier: "episodic",
  occurredAt: 1000,
  expiresAt: 4_000_000_000_000,
};

/** Each patch alone: the fields it must change, and those it must remove. */
const PATCHES: readonly (readonly [string, UpdateWrite["patch"], object, readonly string[]])[] = [
  ["content", { content: "the lantern", parts: null }, { content: "the lantern" }, ["parts"]],
  [
    "content from parts",
    { content: "one two", parts: [{ type: "text", text: "one two" }] },
    { content: "one two", parts: [{ type: "text", text: "one two" }] },
    [],
  ],
  ["role", { role: "tool" }, { role: "tool" }, []],
  ["name", { name: "Anna" }, { name: "Anna" }, []],
  ["no name", { name: null }, {}, ["name"]],
  ["metadata", { metadata: { size: 2 } }, { metadata: { size: 2 } }, []],
  ["no metadata", { metadata: {} }, { metadata: {} }, []],
  ["tier", { tier: "working" }, { tier: "working" }, []],
  ["occurredAt", { occurredAt: 0 }, { occurredAt: 0 }, []],
  ["expiresAt", { expiresAt: 5_000_000_000_000 }, { expiresAt: 5_000_000_000_000 }, []],
  ["no expiry", { expiresAt: null }, {}, ["expiresAt"]],
];

export function updates(check: Check): void {
  for (const [what, patch, changed, gone] of PATCHES) {
    check(`edits ${what} and nothing else`, async (probe) => {
      await probe.add(ADA, [FULL, { id: "y" }], { session: "s", agent: "tutor" });
      const before = await probe.item(ADA, "x");
      probe.now += SECOND;
      expect(await probe.update(ADA, "x", patch)).toEqual({ op: "update", version: 2 });
      const expected: Record<string, unknown> = { ...before, ...changed, version: 2, updatedAt: probe.now };
      for (const field of gone) delete expected[field];
      expect(await probe.get(ADA, "x")).toStrictEqual([expected]);
      expect(await probe.item(ADA, "y")).toMatchObject({ version: 1 });
      expect(await probe.ids(ADA), "an edit does not move an item").toEqual(["x", "y"]);
    });
  }

  check("finds the new words and no longer the old", async (probe) => {
    await probe.add(ADA, [{ id: "x", name: "Ann", content: "the lamp" }]);
    await probe.update(ADA, "x", { content: "a rope", parts: null });
    expect(await probe.found(ADA, "lamp")).toEqual([]);
    expect(await probe.search(ADA, "rope")).toMatchObject([{ id: "x", version: 2, space: ADA }]);
    expect(await probe.found(ADA, "Ann")).toEqual(["x"]);
    await probe.update(ADA, "x", { name: "Zoe" });
    expect(await probe.found(ADA, "Ann")).toEqual([]);
    expect(await probe.found(ADA, "Zoe")).toEqual(["x"]);
    expect(await probe.found(ADA, "rope")).toEqual(["x"]);
    await probe.update(ADA, "x", { content: "", name: null, parts: null });
    expect(await probe.found(ADA, "Zoe rope lamp")).toEqual([]);
  });

  check("counts versions, and edits only the expected one", async (probe) => {
    await probe.add(ADA, [FULL]);
    const edit = (content: string, expectVersion: number): UpdateWrite => ({
      op: "update",
      space: ADA,
      id: "x",
      patch: { content, parts: null },
      expectVersion,
    });
    expect(await probe.unit(edit("two", 1))).toEqual([{ op: "update", version: 2 }]);
    expect(await probe.unit(edit("three", 2))).toEqual([{ op: "update", version: 3 }]);
    for (const stale of [1, 2, 4]) {
      expect((await probe.fails("conflict", edit("never", stale))).details).toMatchObject({ version: 3 });
    }
    expect(await probe.item(ADA, "x")).toMatchObject({ content: "three", version: 3 });
  });

  check("finds no item to edit if none is visible", async (probe) => {
    await probe.add(ADA, [FULL, { id: "old", expiresAt: probe.now + SECOND }]);
    await probe.amend({ kind: "user", name: "ada" }, { retentionMs: DAY });
    probe.now += SECOND;
    const edit = (space: typeof ADA, id: string): UpdateWrite => ({
      op: "update",
      space,
      id,
      patch: { tier: "working" },
    });
    await probe.fails("not_found", edit(ADA, "not there"));
    await probe.fails("not_found", edit(BOB, "x"));
    await probe.fails("not_found", { ...edit(BOB, "x"), expectVersion: 1 });
    await probe.fails("not_found", edit(ADA, "old"));
    probe.now += DAY;
    await probe.fails("not_found", edit(ADA, "x"));
    expect(await probe.names("user"), "a failed edit registers nobody").toEqual(["ada"]);
  });

  check("can set an expiry that has passed: the item is gone at once", async (probe) => {
    await probe.add(ADA, [FULL]);
    await probe.update(ADA, "x", { expiresAt: probe.now });
    expect(await probe.get(ADA, "x")).toEqual([]);
    await probe.fails("not_found", { op: "update", space: ADA, id: "x", patch: { expiresAt: null } });
  });
}
