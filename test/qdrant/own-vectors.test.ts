/** The vectors that the stores keep themselves, held to the same contract as those of an external index. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MemoryStore, SqliteStore } from "holdfast/stores";
import { vectorIndexConformance } from "holdfast/testing";
import { StoreIndex } from "./store-index.js";

vectorIndexConformance({
  name: "MemoryStore",
  open: async () => {
    const store = new MemoryStore();
    return { index: new StoreIndex(store), close: () => store.close() };
  },
});

vectorIndexConformance({
  name: "SqliteStore",
  open: async () => {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-vectors-"));
    const store = await SqliteStore.open({ path: join(folder, "memory.db"), busyTimeoutMs: 10_000 });
    return {
      index: new StoreIndex(store),
      close: async () => {
        await store.close();
        rmSync(folder, { recursive: true });
      },
    };
  },
});
