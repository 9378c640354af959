/** Idempotency keys: a retried unit returns the first answer and writes nothing, for seven days of use. */
import { expect } from "vitest";
import { factId } from "../../stores/fact-id.js";
import type { Note, OnceWrite } from "../../stores/receipts.js";
import type { ForgetWrite, Write } from "../../stores/store.js";
import type { Check } from "./check.js";
import { ADA, BOB, DAY, type Probe, SECOND } from "./probe.js";

const HOUR = 60 * 60 * SECOND;

const KEYED = { session: "s", idempotency: { key: "k", hash: "h" } } as const;
const OTHER_HASH = { session: "s", idempotency: { key: "k", hash: "other" } } as const;

export function retries(check: Check): void {
  check("returns the first answer again for the same key and hash", async (probe) => {
    const first = await probe.add(ADA, ["one", "two"], KEYED);
    await probe.add(ADA, ["between"], { session: "s" });
    const number = probe.written;
    const again = await probe.add(ADA, ["one", "two"], KEYED);
    expect(again).toEqual({ ...first, repeated: true });
    expect(await probe.list(ADA)).toHaveLength(3);
    expect(probe.written).toBe(number);
  });

  check("returns the first answer even after an edit, and outside a session", async (probe) => {
    const first = await probe.add(ADA, [{ id: "x" }], { idempotency: { key: "k", hash: "h" } });
    await probe.update(ADA, "x", { content: "edited" });
    const again = await probe.add(ADA, ["anything"], { idempotency: { key: "k", hash: "h" } });
    expect(again).toEqual({ ...first, repeated: true });
    expect(await probe.contents(ADA)).toEqual(["edited"]);
  });

  check("refuses the key with another hash", async (probe) => {
    await probe.add(ADA, ["one"], KEYED);
    await probe.fails("conflict", ...probe.keyed(ADA, ["other"], OTHER_HASH));
    expect(await probe.contents(ADA)).toEqual(["one"]);
  });

  check("distinguishes keys by space and session", async (probe) => {
    await probe.add(ADA, ["one"], KEYED);
    const hash = { key: "k", hash: "other" };
    expect(await probe.add(ADA, ["two"], { session: "t", idempotency: hash })).toMatchObject({ repeated: false });
    expect(await probe.add(ADA, ["three"], { idempotency: hash })).toMatchObject({ repeated: false });
    expect(await probe.add(BOB, ["four"], { session: "s", idempotency: hash })).toMatchObject({ repeated: false });
    expect(await probe.add(ADA, ["five"], { session: "s", idempotency: { key: "K", hash: "h" } })).toMatchObject({
      repeated: false,
    });
    expect(await probe.contents(ADA)).toEqual(["one", "two", "three", "five"]);
  });

  check("treats the second of two equal units in one commit as a retry", async (probe) => {
    const { outcomes } = await probe.commit(probe.keyed(ADA, ["one"], KEYED), probe.keyed(ADA, ["one"], KEYED));
    expect(outcomes).toMatchObject([
      { done: [{ op: "once" }, { repeated: false }] },
      { done: [{ op: "once", first: [{ op: "add", sequences: [1] }] }] },
    ]);
    expect(await probe.list(ADA)).toHaveLength(1);
  });

  check("keeps a key for seven days of use and no longer", async (probe) => {
    await probe.add(ADA, ["one"], KEYED);
    await use(probe, 7 * 24 - 1);
    expect(await probe.add(ADA, ["one"], KEYED)).toMatchObject({ repeated: true });
    await probe.fails("conflict", ...probe.keyed(ADA, ["other"], OTHER_HASH));
    await use(probe, 1);
    expect(await probe.add(ADA, ["other"], OTHER_HASH)).toMatchObject({ repeated: false, sequences: [2] });
    await use(probe, 7 * 24 - 1);
    expect(await probe.add(ADA, ["other"], OTHER_HASH), "from then on counted anew").toMatchObject({ repeated: true });
  });

  check("keeps a key when the clock jumps forward by more than seven days, and back again", async (probe) => {
    await probe.add(ADA, ["one"], KEYED);
    for (const jump of [8 * DAY, 400 * DAY, -408 * DAY, -DAY, 9 * DAY]) {
      probe.now += jump;
      expect(await probe.add(ADA, ["one"], KEYED), `${jump / DAY} days`).toMatchObject({ repeated: true });
      // A commit at that time, and the receipts that it removes.
      await probe.add(BOB, ["between"], { idempotency: { key: `${jump}`, hash: "h" } });
      await probe.store.maintain(probe.now);
      expect(await probe.add(ADA, ["one"], KEYED), `${jump / DAY} days`).toMatchObject({ repeated: true });
    }
    expect(await probe.list(ADA)).toHaveLength(1);
  });

  check("does not keep the key of a unit that failed", async (probe) => {
    await probe.add(ADA, [{ id: "x", content: "taken" }], { session: "s" });
    await probe.fails("conflict", ...probe.keyed(ADA, [{ id: "x", content: "other" }], KEYED));
    expect(await probe.add(ADA, ["new"], OTHER_HASH)).toMatchObject({ repeated: false });
  });

  check("keeps the key of a round that was already known by its ids", async (probe) => {
    await probe.add(ADA, [{ id: "x" }], { session: "s" });
    expect(await probe.add(ADA, [{ id: "x" }], KEYED)).toMatchObject({ repeated: true });
    await probe.fails("conflict", ...probe.keyed(ADA, ["other"], OTHER_HASH));
    await probe.forget({ space: ADA, ids: ["x"] });
    expect(await probe.add(ADA, [{ id: "x" }], KEYED), "the retry does not bring it back").toMatchObject({
      repeated: true,
    });
    expect(await probe.list(ADA)).toEqual([]);
  });

  check("keeps a session's keys when the session or its space is renamed", async (probe) => {
    await probe.add(ADA, ["one"], KEYED);
    await probe.amend({ kind: "session", name: "s", space: ADA }, { name: "t" });
    await probe.amend({ kind: "user", name: "ada" }, { name: "lovelace" });
    const lovelace = { user: "lovelace" };
    const retry = { session: "t", idempotency: { key: "k", hash: "h" } };
    expect(await probe.add(lovelace, ["one"], retry)).toMatchObject({ repeated: true });
    expect(await probe.add(ADA, ["new"], OTHER_HASH), "the old names are free").toMatchObject({ repeated: false });
  });

  const forgets: readonly (readonly [string, ForgetWrite["target"]])[] = [
    ["by its id", { space: ADA, ids: ["y"] }],
    ["with its session's items", { space: ADA, session: "s", entry: false }],
    ["with its space's items", { space: ADA, entry: false }],
    ["because it has expired", { expired: true }],
  ];
  for (const [how, target] of forgets) {
    check(`returns the first answer to any retry once an item of the round is forgotten ${how}`, async (probe) => {
      const first = await probe.add(ADA, [{ id: "x" }, { id: "y", expiresAt: probe.now + SECOND }], KEYED);
      probe.now += SECOND;
      await probe.forget(target);
      const left = await probe.ids(ADA);
      expect(left).not.toContain("y");
      for (const options of [KEYED, OTHER_HASH]) {
        expect(await probe.add(ADA, ["whatever"], options)).toEqual({ ...first, repeated: true });
      }
      expect(await probe.ids(ADA), "nothing comes back").toEqual(left);
    });
  }

  check("reports a forgotten item whose add has left its key", async (probe) => {
    await probe.add(ADA, [{ id: "x" }, { id: "y" }], KEYED);
    await probe.add(ADA, [{ id: "z" }], { session: "s" });
    const forgetting = (...ids: string[]) => probe.unit({ op: "forget", target: { space: ADA, ids } });
    expect(await forgetting("z")).toMatchObject([{ items: 1, keysLeft: false }]);
    expect(await forgetting("x")).toMatchObject([{ items: 1, keysLeft: true }]);
    expect(await forgetting("y")).toMatchObject([{ items: 1, keysLeft: true }]);
    expect(await forgetting("y")).toMatchObject([{ items: 0, keysLeft: false }]);
  });

  check("forgets the hash even if the forgotten item was in an earlier round as well", async (probe) => {
    await probe.add(ADA, [{ id: "x" }], { session: "s" });
    const first = await probe.add(ADA, [{ id: "x" }, { id: "y" }], KEYED);
    await probe.forget({ space: ADA, ids: ["x"] });
    expect(await probe.add(ADA, ["whatever"], OTHER_HASH)).toEqual({ ...first, repeated: true });
    expect(await probe.ids(ADA)).toEqual(["y"]);
  });

  check("keeps the hash when only others' items are forgotten", async (probe) => {
    await probe.add(ADA, [{ id: "a" }], { session: "s", idempotency: { key: "a", hash: "a" } });
    await probe.add(ADA, ["mine"], KEYED);
    await probe.add(BOB, ["his"], { session: "s" });
    await probe.add(ADA, [{ id: "z" }], { session: "s" });
    await probe.forget({ space: ADA, ids: ["a", "z"] });
    await probe.forget({ space: BOB, entry: true });
    await probe.fails("conflict", ...probe.keyed(ADA, ["other"], OTHER_HASH));
  });

  for (const [what, { writes, notes }] of Object.entries(WRITES)) {
    check(`writes once: ${what}`, async (probe) => {
      await prepare(probe);
      const done = await probe.unit(ONCE, ...writes);
      expect(done.map(({ op }) => op)).toEqual(["once", ...writes.map(({ op }) => op)]);
      const number = probe.written;
      expect(await probe.unit(ONCE), "asked").toEqual([{ op: "once", first: notes }]);
      expect(await probe.unit(ONCE, ...writes), "repeated").toEqual([{ op: "once", first: notes }]);
      await probe.fails("conflict", { ...ONCE, hash: "other" }, ...writes);
      expect(probe.written).toBe(number);
    });
  }

  check("supports keys without a space", async (probe) => {
    const once: OnceWrite = { op: "once", key: "k", hash: "h" };
    const put: Write = { op: "put_key", key: { id: "1", access: "read", spaces: ["user"], hash: "ab" } };
    await probe.unit(once, put);
    expect(await probe.unit(once, put)).toEqual([{ op: "once", first: [{ op: "put_key", id: "1" }] }]);
    expect(await probe.unit({ ...once, space: ADA })).toEqual([{ op: "once" }]);
  });

  check("finds a key by the new name that its unit gives", async (probe) => {
    await probe.register({ kind: "user", name: "ada" });
    const once: OnceWrite = { op: "once", space: { user: "lovelace" }, key: "k", hash: "h" };
    const rename: Write = { op: "amend", entry: { kind: "user", name: "ada" }, name: "lovelace" };
    await probe.unit(once, rename);
    expect(await probe.unit(once, rename)).toMatchObject([{ first: [{ op: "amend", kind: "user" }] }]);
  });

  check("keeps nothing of a unit that only reads, or whose ledger has changed", async (probe) => {
    expect(await probe.unit(ONCE)).toEqual([{ op: "once" }]);
    const put = [{ ref: "r", version: 1, tokens: 1 }];
    const ledger = { op: "ledger", space: ADA, session: "s", reset: false, drop: [], put, saved: 0 } as const;
    const stale = await probe.unit(ONCE, { ...ledger, expected: "another" });
    expect(stale).toEqual([{ op: "once" }, { op: "ledger", isStale: true }]);
    expect(await probe.unit(ONCE, ledger)).toMatchObject([{ op: "once" }, { before: [{ ref: "r" }] }]);
    expect(await probe.unit(ONCE, ledger)).toEqual([{ op: "once", first: [{ op: "ledger", before: [{ ref: "r" }] }] }]);
  });

  const things: readonly (readonly [string, Write, ForgetWrite["target"], Note])[] = [
    ["an edited item", UPDATE, { space: ADA, ids: ["x"] }, { op: "update", id: "x", version: 2 }],
    ["a block", BLOCK, { space: ADA, block: "b" }, { op: "put_block", id: "b", version: 1 }],
    ["a fact", FACT, { space: ADA, ids: [LISBON] }, { op: "put_fact", id: "", outcome: "added", ended: [] }],
    ["the end of a fact", END, { space: ADA, ids: [PARIS] }, { op: "end_fact", id: "" }],
  ];
  for (const [what, write, target, note] of things) {
    check(`forgets the hash with what it is about: ${what}`, async (probe) => {
      await prepare(probe);
      await probe.unit(ONCE, write);
      await probe.fails("conflict", { ...ONCE, hash: "other" });
      await probe.forget(target);
      for (const hash of ["h", "other"]) {
        expect(await probe.unit({ ...ONCE, hash }, write)).toEqual([{ op: "once", first: [note] }]);
      }
    });
  }

  check("keeps the hash of a fact that ends but is not forgotten", async (probe) => {
    await prepare(probe);
    await probe.unit(ONCE, FACT);
    await probe.unit({ op: "end_fact", space: ADA, id: LISBON, as: "ended", at: probe.now });
    await probe.fails("conflict", { ...ONCE, hash: "other" });
  });
}

const ONCE: OnceWrite = { op: "once", space: ADA, key: "k", hash: "h" };
const PARIS = factId("home", "lives in Paris");
const LISBON = factId("home", "lives in Lisbon");

const UPDATE: Write = { op: "update", space: ADA, id: "x", patch: { content: "edited" } };
const BLOCK: Write = {
  op: "put_block",
  space: ADA,
  id: "b",
  expect: 0,
  state: { name: "human", content: "Ada", maxTokens: 9, counter: "chars4", policy: "manual", readOnly: false },
  reason: "",
};
const FACT = factOf(LISBON, "lives in Lisbon");
const END: Write = { op: "end_fact", space: ADA, id: PARIS, as: "retracted", at: 1 };

const WRITES: { readonly [what: string]: { readonly writes: readonly Write[]; readonly notes: readonly unknown[] } } = {
  "an edit of an item": { writes: [UPDATE], notes: [{ op: "update", id: "x", version: 2 }] },
  "a block": { writes: [BLOCK], notes: [{ op: "put_block", id: "b", version: 1 }] },
  "a fact that takes the place of another": {
    writes: [{ ...FACT, supersedes: [PARIS] }],
    notes: [{ op: "put_fact", id: LISBON, outcome: "added", ended: [PARIS] }],
  },
  "the end of a fact": { writes: [END], notes: [{ op: "end_fact", id: PARIS }] },
  "a promotion": {
    writes: [{ op: "promote", from: ADA, to: { team: "crew" }, ids: ["x"], reason: "r" }],
    notes: [{ op: "promote", ids: ["x"] }],
  },
  "a session": {
    writes: [{ op: "register", create: "new", entry: { kind: "session", name: "s", space: ADA } }],
    notes: [{ op: "register", kind: "session", id: expect.any(String) }],
  },
  "a description": {
    writes: [{ op: "amend", entry: { kind: "user", name: "ada" }, description: "someone" }],
    notes: [{ op: "amend", kind: "user", id: expect.any(String) }],
  },
  "all of a turn": {
    writes: [UPDATE, FACT, BLOCK],
    notes: [
      { op: "update", id: "x", version: 2 },
      { op: "put_fact", id: LISBON, outcome: "added", ended: [] },
      { op: "put_block", id: "b", version: 1 },
    ],
  },
};

function factOf(id: string, content: string) {
  const rest = { category: "home", confidence: 1, source: {}, from: 1, supersedes: [], force: false };
  return { op: "put_fact", space: ADA, id, content, ...rest } as const;
}

async function prepare(probe: Probe): Promise<void> {
  await probe.add(ADA, [{ id: "x" }]);
  await probe.unit(factOf(PARIS, "lives in Paris"));
}

/** Uses the store for this many hours. */
async function use(probe: Probe, hours: number): Promise<void> {
  for (let hour = 0; hour < hours; hour++) {
    probe.now += HOUR;
    await probe.add(BOB, ["something"]);
  }
}
