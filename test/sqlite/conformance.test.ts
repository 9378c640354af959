/** The SQLite store held to the contract of all stores, and to the model by random operations. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SqliteStore } from "holdfast/stores";
import { storeConformance, storeModel } from "holdfast/testing";

async function open() {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-conformance-"));
  const options = { path: join(folder, "memory.db"), busyTimeoutMs: 10_000 };
  const stores = [await SqliteStore.open(options)];
  return {
    store: stores[0] as SqliteStore,
    reopen: async () => {
      const store = await SqliteStore.open(options);
      stores.push(store);
      return store;
    },
    close: async () => {
      for (const store of stores) await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}

storeConformance({ name: "SQLite", open });
storeModel({ name: "SQLite", open, runs: 25 });
