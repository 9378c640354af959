/** The suite that both stores pass: contexto's interface, sessions, and leases. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FakeClock } from "../../testing/fake-clock.js";
import { heapUsed } from "../../testing/heap-used.js";
import { type BufferStore, type BufferStoreOptions, INJECTED_IDS_MAX } from "./buffer-store.js";
import { InMemoryBufferStore } from "./in-memory-buffer-store.js";
import { SqliteBufferStore } from "./sqlite-buffer-store.js";
import type { WebhookPayload } from "./webhook-payload.js";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-buffer-store-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const KINDS = [
  { kind: "InMemoryBufferStore", open: (options: BufferStoreOptions) => new InMemoryBufferStore<unknown>(options) },
  {
    kind: "SqliteBufferStore",
    open: (options: BufferStoreOptions) => new SqliteBufferStore<unknown>(join(folder, "buffer.db"), options),
  },
];

const EPISODE: WebhookPayload = {
  event: { type: "episode", action: "combined" },
  sessionKey: "agent:main",
  timestamp: "2026-01-01T00:00:00.000Z",
  context: { sessionId: "monday", model: "m", provider: "p" },
  data: { messages: [{ role: "user", content: "I moved to Lisbon in May." }] },
};

const coded = (code: string) => expect.objectContaining({ code });

describe.each(KINDS)("$kind", ({ open }) => {
  let clock = new FakeClock();
  let store: BufferStore<unknown> = new InMemoryBufferStore<unknown>();

  function opened(options: BufferStoreOptions = {}): BufferStore<unknown> {
    clock = new FakeClock();
    store = open({ clock, ...options });
    return store;
  }
  afterEach(() => store.close());

  /** Pushes the numbers from 1. */
  function pushNumbers(count: number, session = "monday"): void {
    for (let number = 1; number <= count; number++) store.push(number, session, "key");
  }
  const payloads = (): unknown[] => store.getAll().map(({ payload }) => payload);
  const rowids = (): number[] => store.getAll().map(({ rowid }) => rowid);

  describe("entries", () => {
    it("come back as they were pushed, with session, key and time", () => {
      opened();
      expect(store.getAll()).toEqual([]);
      store.push(EPISODE, "monday", "agent:main");
      clock.advance(5);
      store.push({ ...EPISODE, event: { type: "note", action: "x" } }, "tuesday", "");
      const [first, second] = store.getAll();
      const at = clock.now() - 5;
      expect(first).toEqual({
        rowid: first?.rowid,
        payload: EPISODE,
        sessionId: "monday",
        sessionKey: "agent:main",
        at,
        attempts: 0,
      });
      expect(second).toMatchObject({ sessionId: "tuesday", sessionKey: "", at: at + 5 });
      expect(store.count()).toBe(2);
    });

    it("are kept in the order of their pushes, regardless of the clock", () => {
      opened();
      for (let number = 1; number <= 20; number++) {
        clock.set(1_000_000 - number * 1_000);
        store.push(number, `session ${number % 3}`, "key");
      }
      expect(payloads()).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
      expect(rowids()).toEqual(rowids().toSorted((a, b) => a - b));
    });

    it("never get a rowid that another had", () => {
      opened();
      const seen: number[] = [];
      for (let round = 0; round < 4; round++) {
        pushNumbers(2);
        seen.push(...rowids());
        if (round % 2 === 0) store.clear();
        else store.deleteByRowids(rowids());
        expect(store.count()).toBe(0);
      }
      expect(new Set(seen).size).toBe(8);
      expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    });

    it("leave by rowid; unknown and repeated rowids do no harm", () => {
      opened();
      pushNumbers(4);
      const [, second = 0, , fourth = 0] = rowids();
      store.deleteByRowids([fourth, second, second, fourth + 100, Number.MAX_SAFE_INTEGER]);
      store.deleteByRowids([]);
      expect(payloads()).toEqual([1, 3]);
    });

    it("are copies that no later change reaches", () => {
      opened();
      const payload = { list: [1] };
      store.push(payload, "monday", "key");
      payload.list.push(2);
      for (const entry of store.getAll()) (entry.payload as { list: number[] }).list.push(3);
      expect(payloads()).toEqual([{ list: [1] }]);
    });

    it.each([
      ["null", null],
      ["false", false],
      ["a number", -1.5e300],
      ["an empty text", ""],
      ["text of every kind", "naïve 🧑‍🚀 \u202e مرحبا \u0007 '; DROP TABLE entry; --\u2028\n"],
      ["a key named __proto__", JSON.parse('{"__proto__":{"polluted":true},"constructor":1}')],
      ["a list of lists", [[], [[null]], {}]],
      ["five megabytes", { text: "é".repeat(2_500_000) }],
    ])("keep %s exactly", (_, payload) => {
      opened();
      store.push(payload, "monday", "key");
      expect(JSON.stringify(payloads()[0])).toBe(JSON.stringify(payload));
    });

    it("leave out keys that are undefined, and replace what is no character", () => {
      opened();
      store.push({ model: undefined, text: "a\u0000b\ud800c" }, "monday", "key");
      expect(payloads()).toEqual([{ text: "a\uFFFDb\uFFFDc" }]);
    });

    const itself: unknown[] = [];
    itself.push(itself);
    it.each([
      ["undefined", undefined, "invalid_input"],
      ["NaN", { deep: [Number.NaN] }, "invalid_input"],
      ["a BigInt", 1n, "invalid_input"],
      ["a Date", { at: new Date(0) }, "invalid_input"],
      ["a Map", new Map(), "invalid_input"],
      ["a function", () => 1, "invalid_input"],
      ["a hole in a list", [undefined], "invalid_input"],
      ["what contains itself", itself, "invalid_input"],
      ["more than 64 MiB", "x".repeat(64 * 1024 * 1024), "too_large"],
    ])("cannot be %s", (_, payload, code) => {
      opened();
      expect(() => store.push(payload, "monday", "key")).toThrow(coded(code));
      expect(store.count()).toBe(0);
    });

    it("name their sessions exactly: hostile names are kept, broken ones refused", () => {
      opened();
      const names = ["' OR 1=1 --", "%", "\u202e", "ä", "a\u0308", " ", "__proto__", "x".repeat(512)];
      for (const name of names) store.push(1, name, name);
      expect(store.getAll().map(({ sessionId }) => sessionId)).toEqual(names);
      expect(store.getAll().map(({ sessionKey }) => sessionKey)).toEqual(names);
      for (const name of ["", "\ud800", "a\u0000b", 7 as never, undefined as never]) {
        expect(() => store.push(1, name, "key")).toThrow(coded("invalid_input"));
      }
      for (const key of ["\ud800", null as never]) {
        expect(() => store.push(1, "monday", key)).toThrow(coded("invalid_input"));
      }
      expect(() => store.push(1, "x".repeat(513), "key")).toThrow(coded("too_large"));
      expect(store.count()).toBe(names.length);
    });
  });

  describe("injected ids", () => {
    it("are known from when they are added until they are cleared", () => {
      opened();
      expect(store.hasInjectedId("a")).toBe(false);
      expect(["a", "a", "' --", "ä"].map((id) => store.addInjectedId(id))).toEqual([true, false, true, true]);
      expect(["a", "' --", "ä", "a\u0308", "A"].map((id) => store.hasInjectedId(id))).toEqual([
        true,
        true,
        true,
        false,
        false,
      ]);
      pushNumbers(1);
      store.clear();
      expect(store.hasInjectedId("a")).toBe(true);
      pushNumbers(1);
      store.clearInjectedIds();
      expect(store.hasInjectedId("a")).toBe(false);
      expect(store.count()).toBe(1);
    });

    it("are refused when they are no ids", () => {
      opened();
      for (const id of ["", "\ud800", 1 as never]) {
        expect(() => store.addInjectedId(id)).toThrow(coded("invalid_input"));
        expect(() => store.hasInjectedId(id)).toThrow(coded("invalid_input"));
      }
    });

    it("are kept up to a number; then the oldest leave", () => {
      opened();
      for (let number = 0; number < INJECTED_IDS_MAX; number++) store.addInjectedId(`id ${number}`);
      store.addInjectedId("id 0"); // known: changes nothing
      expect(store.hasInjectedId("id 0")).toBe(true);
      store.addInjectedId("one more");
      expect(["id 0", "id 1", "one more"].map((id) => store.hasInjectedId(id))).toEqual([false, true, true]);
      store.addInjectedId("id 0");
      expect(["id 0", "id 1", "id 2"].map((id) => store.hasInjectedId(id))).toEqual([true, false, true]);
    });
  });

  describe("bound to a session", () => {
    it("takes pushes of that session and refuses others", () => {
      opened({ session: "monday" });
      pushNumbers(2);
      expect(() => store.push(3, "tuesday", "key")).toThrow(coded("invalid_input"));
      expect(payloads()).toEqual([1, 2]);
    });

    it("says which; a store that is bound to none says so", () => {
      expect(opened({ session: "monday" }).session).toBe("monday");
      store.close();
      expect(opened().session).toBeUndefined();
    });

    it("refuses a session without a name, and options that there are not", () => {
      expect(() => open({ session: "" })).toThrow(coded("invalid_input"));
      expect(() => open({ sesion: "monday" } as never)).toThrow(coded("invalid_input"));
      opened();
    });
  });

  describe("a lease", () => {
    it("takes the oldest, hides them from other leases, and from nothing else", () => {
      opened();
      pushNumbers(5);
      const first = store.lease({ limit: 2, leaseMs: 1_000 });
      expect(first.map(({ payload, attempts }) => [payload, attempts])).toEqual([
        [1, 1],
        [2, 1],
      ]);
      expect(first[0]).toMatchObject({ sessionId: "monday", sessionKey: "key", leasedUntil: clock.now() + 1_000 });
      expect(store.lease().map(({ payload }) => payload)).toEqual([3, 4, 5]);
      expect(store.lease()).toEqual([]);
      expect(payloads()).toEqual([1, 2, 3, 4, 5]);
      expect(store.getAll().map(({ attempts }) => attempts)).toEqual([1, 1, 1, 1, 1]);
      expect(store.count()).toBe(5);
    });

    it("lets its entries be acknowledged, in part and once", () => {
      opened();
      pushNumbers(3);
      const leased = store.lease();
      expect(store.acknowledge(leased.slice(1, 2))).toBe(1);
      expect(payloads()).toEqual([1, 3]);
      expect(store.acknowledge([...leased, ...leased])).toBe(2);
      expect(store.acknowledge(leased)).toBe(0);
      expect(store.count()).toBe(0);
    });

    it("ends by time, and its entries go to the next with one attempt more", () => {
      opened();
      pushNumbers(2);
      store.lease({ leaseMs: 1_000 });
      clock.advance(999);
      expect(store.lease()).toEqual([]);
      clock.advance(1);
      expect(store.lease().map(({ payload, attempts }) => [payload, attempts])).toEqual([
        [1, 2],
        [2, 2],
      ]);
    });

    it("that was overtaken can neither acknowledge nor release what another now has", () => {
      opened();
      pushNumbers(2);
      const slow = store.lease({ leaseMs: 1_000 });
      clock.advance(1_000);
      const next = store.lease({ limit: 1 });
      expect(store.release(slow.slice(0, 1))).toBe(0);
      expect(store.acknowledge(slow)).toBe(1); // no one has leased the second since
      expect(payloads()).toEqual([1]);
      expect(store.lease()).toEqual([]);
      expect(store.acknowledge(next)).toBe(1);
      expect(store.count()).toBe(0);
    });

    it("gives back what it releases at once, in its old place, and is over for it", () => {
      opened();
      pushNumbers(3);
      const leased = store.lease();
      expect(store.release(leased.slice(0, 2))).toBe(2);
      expect(store.release(leased.slice(0, 2))).toBe(0);
      expect(store.acknowledge(leased)).toBe(1);
      pushNumbers(1);
      expect(store.lease().map(({ payload, attempts }) => [payload, attempts])).toEqual([
        [1, 2],
        [2, 2],
        [1, 1],
      ]);
    });

    it("does not keep entries from being deleted or cleared", () => {
      opened();
      pushNumbers(2);
      const leased = store.lease();
      store.deleteByRowids(rowids().slice(0, 1));
      expect(store.acknowledge(leased.slice(0, 1))).toBe(0);
      store.clear();
      expect(store.acknowledge(leased)).toBe(0);
      expect(store.release(leased)).toBe(0);
    });

    it("hides entries for twice its length at most when the time of day is set back", () => {
      opened();
      pushNumbers(1);
      store.lease({ leaseMs: 1_000 });
      clock.set(clock.now() - 1_000);
      expect(store.lease()).toEqual([]);
      clock.set(clock.now() - 1);
      expect(store.lease()).toHaveLength(1);
    });

    it("is known by rowid and fence alone, so that it can be written down", () => {
      opened();
      pushNumbers(2);
      const noted = JSON.parse(JSON.stringify(store.lease().map(({ rowid, fence }) => ({ rowid, fence }))));
      expect(store.release(noted.slice(1))).toBe(1);
      expect(store.acknowledge(noted)).toBe(1);
    });

    it("is refused where it is not one", () => {
      opened();
      pushNumbers(1);
      store.lease();
      const wrong = [store.getAll(), [1], [null], [{ rowid: 1, fence: 0.5 }], [{ fence: 1 }], "all", undefined];
      for (const leased of wrong) {
        expect(() => store.acknowledge(leased as never)).toThrow(coded("invalid_input"));
        expect(() => store.release(leased as never)).toThrow(coded("invalid_input"));
      }
      for (const options of [{ limit: 0 }, { limit: 1_001 }, { leaseMs: 0 }, { leaseMs: 1.5 }, { count: 1 }]) {
        expect(() => store.lease(options as never)).toThrow(coded("invalid_input"));
      }
      for (const list of [[0], [1.5], ["1"], [undefined], 1, [Number.NaN]]) {
        expect(() => store.deleteByRowids(list as never)).toThrow(coded("invalid_input"));
      }
      expect(store.count()).toBe(1);
    });
  });

  it("can be closed twice; every other call then says so", () => {
    opened();
    pushNumbers(1);
    store.close();
    store.close();
    const calls: (() => unknown)[] = [
      () => store.push(1, "monday", "key"),
      () => store.getAll(),
      () => store.count(),
      () => store.clear(),
      () => store.deleteByRowids([1]),
      () => store.lease(),
      () => store.acknowledge([]),
      () => store.release([]),
      () => store.hasInjectedId("a"),
      () => store.addInjectedId("a"),
      () => store.clearInjectedIds(),
    ];
    for (const call of calls) expect(call).toThrow(coded("closed"));
  });
});

it("an InMemoryBufferStore frees what it holds when it is closed", () => {
  const store = new InMemoryBufferStore<string>();
  const before = heapUsed();
  for (let at = 0; at < 20; at++) store.push(`${at} `.repeat(500_000), "monday", "key");
  expect(heapUsed() - before).toBeGreaterThan(10_000_000);
  store.close();
  expect(heapUsed() - before).toBeLessThan(1_000_000);
  expect(() => store.count()).toThrow(coded("closed"));
});
