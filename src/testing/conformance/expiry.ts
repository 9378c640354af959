/** Expiry and retention: from the given moment on, an item is in no answer. */
import { expect } from "vitest";
import type { Check } from "./check.js";
import { ADA, BOB, DAY, type Probe, SECOND, START } from "./probe.js";

export function expiry(check: Check): void {
  check("shows an item until it expires, and not from that millisecond on", async (probe) => {
    await probe.add(ADA, [{ id: "x", content: "lamp", expiresAt: START + SECOND }], { session: "s" });
    await probe.add(ADA, [{ id: "y", content: "lamp" }], { session: "s" });
    probe.now = START + SECOND - 1;
    await expectSeen(probe, ["x", "y"]);
    probe.now = START + SECOND;
    await expectSeen(probe, ["y"]);
    probe.now = START + DAY;
    await expectSeen(probe, ["y"]);
  });

  check("never shows an item that was added with a past expiry", async (probe) => {
    await probe.add(ADA, [{ id: "x", content: "lamp", expiresAt: START }], { session: "s" });
    await expectSeen(probe, []);
    expect(await probe.add(ADA, ["next"], { session: "s" })).toMatchObject({ sequences: [2] });
  });

  check("hides what is past a space's retention, counted from its recording", async (probe) => {
    await probe.add(ADA, [{ id: "x", content: "lamp", occurredAt: START + 50 * DAY }]);
    await probe.add(BOB, [{ id: "his", content: "lamp" }]);
    probe.now = START + SECOND;
    await probe.add(ADA, [{ id: "y", content: "lamp", occurredAt: 0 }]);
    await probe.amend({ kind: "user", name: "ada" }, { retentionMs: DAY });
    probe.now = START + DAY - 1;
    await expectSeen(probe, ["x", "y"]);
    probe.now = START + DAY;
    await expectSeen(probe, ["y"]);
    probe.now = START + DAY + SECOND;
    await expectSeen(probe, []);
    expect(await probe.ids([ADA, BOB]), "one space's retention is not another's").toEqual(["his"]);
    expect(await probe.found([ADA, BOB], "lamp")).toEqual(["his"]);
  });

  check("counts retention from the first recording, even after an edit or a replacement", async (probe) => {
    await probe.add(ADA, [
      { id: "x", content: "lamp" },
      { id: "y", content: "lamp" },
    ]);
    await probe.amend({ kind: "user", name: "ada" }, { retentionMs: DAY });
    probe.now = START + DAY - 1;
    await probe.update(ADA, "x", { content: "new lamp", parts: null });
    await probe.add(ADA, [{ id: "y", content: "new lamp" }], { existing: "replace" });
    probe.now = START + DAY;
    await expectSeen(probe, []);
  });

  check("uses the earlier of an item's expiry and its space's retention", async (probe) => {
    await probe.amend((await probe.register({ kind: "user", name: "ada" })).entry as { kind: "user"; name: string }, {
      retentionMs: 10 * SECOND,
    });
    await probe.add(ADA, [{ id: "soon", content: "lamp", expiresAt: START + 5 * SECOND }]);
    await probe.add(ADA, [{ id: "late", content: "lamp", expiresAt: START + 50 * SECOND }]);
    probe.now = START + 5 * SECOND;
    await expectSeen(probe, ["late"]);
    probe.now = START + 10 * SECOND;
    await expectSeen(probe, []);
  });

  check("shows items again that a longer retention, or none, allows and that were not removed", async (probe) => {
    await probe.add(ADA, [{ id: "x", content: "lamp" }]);
    await probe.amend({ kind: "user", name: "ada" }, { retentionMs: SECOND });
    probe.now = START + DAY;
    await expectSeen(probe, []);
    await probe.amend({ kind: "user", name: "ada" }, { retentionMs: 2 * DAY });
    await expectSeen(probe, ["x"]);
    await probe.amend({ kind: "user", name: "ada" }, { retentionMs: SECOND });
    await probe.amend({ kind: "user", name: "ada" }, { retentionMs: null });
    await expectSeen(probe, ["x"]);
  });

  check("skips expired items without leaving holes in pages", async (probe) => {
    const drafts = Array.from({ length: 12 }, (_, at) => ({
      id: `i${at}`,
      content: "lamp",
      ...(at % 3 !== 0 && { expiresAt: START + SECOND }),
    }));
    await probe.add(ADA, drafts);
    probe.now = START + SECOND;
    const page = await probe.store.list(probe.listing(ADA, { limit: 3 }));
    expect(page.items.map(({ id }) => id)).toEqual(["i0", "i3", "i6"]);
    const last = await probe.store.list(probe.listing(ADA, { limit: 3, cursor: page.next as string }));
    expect(last.items.map(({ id }) => id)).toEqual(["i9"]);
    expect(last.next).toBeUndefined();
    expect(await probe.found(ADA, "lamp", { limit: 4 })).toEqual(["i9", "i6", "i3", "i0"]);
  });
}

/** All three ways to read must agree; every item here contains "lamp". */
async function expectSeen(probe: Probe, ids: readonly string[]): Promise<void> {
  expect(await probe.ids(ADA)).toEqual(ids);
  expect((await probe.found(ADA, "lamp")).toSorted()).toEqual(ids.toSorted());
  expect((await probe.get(ADA, "x", "y", "soon", "late")).map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
}
