/** Reopening: committed writes are there, for this handle and for any other. */
import { expect } from "vitest";
import type { Check, CheckPersistent } from "./check.js";
import { ADA, BOB, DAY, type Probe, SECOND } from "./probe.js";

export function reopening(check: Check, checkPersistent: CheckPersistent): void {
  check("continues after a reopen where it was", async (probe) => {
    await probe.add(ADA, [{ id: "x", content: "lamp" }], { session: "s", agent: "tutor" });
    const read = async () => [await probe.list(ADA), await probe.search(ADA, "lamp"), await probe.cursor(ADA)];
    const before = await read();
    await probe.store.reopen();
    expect(await read()).toEqual(before);
    expect(await probe.add(ADA, ["next"], { session: "s" })).toMatchObject({ sequences: [2] });
  });

  check("knows after a reopen whether its last group was committed", async (probe) => {
    await probe.store.commit([[probe.adding(ADA, ["one"])]], probe.now, "first");
    await probe.store.commit([[probe.adding(ADA, ["two"])]], probe.now, "second");
    await probe.store.reopen();
    expect(await probe.store.wasCommitted("second")).toBe(true);
    expect(await probe.store.wasCommitted("never tried")).toBe(false);
    await probe.store.commit([[probe.adding(ADA, ["three"])]], probe.now, "third");
    await probe.store.reopen();
    expect(await probe.store.wasCommitted("third")).toBe(true);
  });

  checkPersistent("knows the outcome of its last group when another's clock is years ahead", async (probe, reopen) => {
    await probe.store.commit([[probe.adding(ADA, ["one"])]], probe.now, "mine");
    const second = probe.on(await reopen());
    try {
      for (const jump of [2 * DAY, 800 * DAY, -900 * DAY]) {
        second.now += jump;
        await second.add(ADA, ["another"]);
        await second.store.maintain(second.now);
      }
      await probe.store.reopen();
      expect(await probe.store.wasCommitted("mine")).toBe(true);
    } finally {
      await second.store.close();
    }
  });

  checkPersistent("finds everything after close and open", async (probe, reopen) => {
    await probe.add(ADA, [{ id: "x", content: "lamp", metadata: { a: [1] } }, { id: "y" }], {
      session: "s",
      agent: "tutor",
      idempotency: { key: "k", hash: "h" },
    });
    await probe.add(ADA, [{ id: "gone", content: "secret" }], { session: "s" });
    await probe.update(ADA, "y", { content: "edited lamp", parts: null });
    await probe.forget({ space: ADA, ids: ["gone"] });
    await probe.amend({ kind: "user", name: "ada" }, { description: "someone", retentionMs: DAY });
    const before = await readAll(probe);
    await probe.store.close();
    const second = probe.on(await reopen());
    try {
      expect(await readAll(second)).toEqual(before);
      expect(await second.found(ADA, "secret")).toEqual([]);
      expect(await second.add(ADA, ["next"], { session: "s" })).toMatchObject({ sequences: [4] });
      const retry = { session: "s", idempotency: { key: "k", hash: "h" } };
      expect(await second.add(ADA, ["whatever"], retry)).toMatchObject({ ids: ["x", "y"], repeated: true });
      second.now += DAY + SECOND;
      expect(await second.ids(ADA)).toEqual([]);
    } finally {
      await second.store.close();
    }
  });

  checkPersistent("shows each handle what the other has committed", async (probe, reopen) => {
    await probe.add(ADA, [{ id: "x", content: "lamp" }], { session: "s" });
    const second = probe.on(await reopen());
    try {
      expect(await second.ids(ADA)).toEqual(["x"]);
      await second.add(ADA, [{ id: "y", content: "lamp" }], { session: "s" });
      await second.update(ADA, "x", { content: "rope", parts: null });
      expect(await probe.get(ADA, "x", "y")).toHaveLength(2);
      expect((await probe.found(ADA, "lamp"))[0]).toBe("y");
      expect((await probe.found(ADA, "rope"))[0]).toBe("x");
      expect(await probe.cursor(ADA)).toEqual(await second.cursor(ADA));
      expect(await probe.add(ADA, ["z"], { session: "s" })).toMatchObject({ sequences: [3] });
      const since = await probe.cursor(ADA);
      await second.forget({ space: ADA, ids: ["y"] });
      expect(await probe.get(ADA, "y")).toEqual([]);
      expect(await probe.found(ADA, "lamp")).toEqual([]);
      const version = await second.cursor(ADA);
      expect(await probe.changes(ADA, since)).toMatchObject({ version, changed: [], removed: [{ items: 1 }] });
      await second.amend({ kind: "user", name: "ada" }, { name: "lovelace" });
      expect(await probe.ids(ADA)).toEqual([]);
      expect(await probe.ids({ user: "lovelace" })).toHaveLength(2);
    } finally {
      await second.store.close();
    }
  });

  checkPersistent("gives no sequence and no version twice when two handles commit at once", async (probe, reopen) => {
    const second = probe.on(await reopen());
    try {
      const writes = Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? probe : second));
      const committed = await Promise.all(
        writes.map((handle, at) => handle.commit([handle.adding(ADA, [{ id: `i${at}` }], { session: "s" })])),
      );
      expect(new Set(committed.map(({ versions: [one] }) => one?.version)).size).toBe(writes.length);
      const items = await second.list(ADA);
      expect(items.map(({ sequence }) => sequence)).toEqual(writes.map((_, at) => at + 1));
      expect(await probe.list(ADA)).toEqual(items);
      expect(await probe.list(BOB)).toEqual([]);
    } finally {
      await second.store.close();
    }
  });
}

async function readAll(probe: Probe) {
  const { changed, ...rest } = await probe.changes(ADA);
  return {
    items: await probe.list(ADA),
    hits: await probe.search(ADA, "lamp"),
    versions: await probe.store.versions([ADA, { agent: "tutor" }]),
    changed: changed.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    rest,
    users: (await probe.store.entries({ kind: "user", limit: 10 })).items,
    sessions: (await probe.store.sessions({ kind: "session", limit: 10 })).items,
    stored: (await probe.store.stats()).items,
  };
}
