/**
 * Runs the conformance suite of all stores, and the model suite of random operations, on the SQLite store.
 *
 * A file and `:memory:` run the same code. A file adds threads, which every call must pass through unchanged, and other
 * handles on the same data. So each check runs once: those that reopen on a file; some other groups on a file, so that
 * every method is called there; and most in memory, where opening takes a tenth of the time. These run through a
 * FaultyStore without faults, which must make no difference either.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SqliteStore, type Store } from "holdfast/stores";
import { FaultyStore, storeConformance, storeModel } from "holdfast/testing";
import { expect, it } from "vitest";

/** Groups of checks that run on a file: together with the model they call every method. */
const ON_FILE = ["commits", "forgets", "items that wait to be embedded", "vectors", "what was kept elsewhere"];

/** The names of the methods that were called, in memory and on a file. */
const called = { inMemory: new Set<string>(), onFile: new Set<string>() };

const noting = (store: Store, names: Set<string>): Store =>
  new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      names.add(String(name));
      return value.bind(target) as unknown;
    },
  });

async function openFile() {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-conformance-"));
  const options = { path: join(folder, "memory.db"), busyTimeoutMs: 10_000 };
  const stores: Store[] = [];
  const open = async (): Promise<Store> => {
    const store = noting(await SqliteStore.open(options), called.onFile);
    stores.push(store);
    return store;
  };
  return {
    store: await open(),
    reopen: open,
    close: async () => {
      for (const store of stores) await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function openInMemory() {
  const inner = await SqliteStore.open({ path: ":memory:", busyTimeoutMs: 10_000 });
  const store = noting(new FaultyStore(inner), called.inMemory);
  return { store, close: () => store.close() };
}

function open() {
  const { currentTestName = "" } = expect.getState();
  return ON_FILE.some((group) => currentTestName.includes(` > ${group} > `)) ? openFile() : openInMemory();
}

storeConformance({ name: "SQLite", open, openPersistent: openFile });
storeModel({ name: "SQLite", open: openFile, runs: 25 });

it("every method that was called in memory was called on a file", () =>
  expect([...called.inMemory].filter((name) => !called.onFile.has(name))).toEqual([]));
