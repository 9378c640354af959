/** A memory on a store provided by the test: one that fails, or one that runs something before a commit. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { BufferService, Memory } from "holdfast";
import { SqliteStore, type Store, type Write } from "holdfast/stores";
import type { loadConfig as load } from "../../build/lib/config.js";
import { root } from "../support/root.js";

const { loadConfig } = (await import(pathToFileURL(join(root, "build/lib/config.js")).href)) as {
  loadConfig: typeof load;
};

/** Closed with the memory. */
export async function memoryOn(store: Store): Promise<Memory> {
  // The path is not checked: the store is open.
  const options = loadConfig({ code: { path: ":memory:" }, env: process.env, file: undefined });
  const service = new BufferService(store, options);
  await service.start();
  return new Memory(service);
}

/** The moment between a plan and its commit. */
export interface Interrupted {
  readonly memory: Memory;
  /** Runs this once, just before the next commit with a write that matches the predicate. */
  before(isMeant: (write: Write) => boolean, work: () => Promise<unknown>): void;
  /** The number of attempted writes that match the predicate. */
  tried(isMeant: (write: Write) => boolean): number;
}

export async function openInterrupted(path: string): Promise<Interrupted> {
  const inner = await SqliteStore.open({ path, busyTimeoutMs: 10_000 });
  const writes: Write[] = [];
  let next: { readonly isMeant: (write: Write) => boolean; readonly work: () => Promise<unknown> } | undefined;
  const store = new Proxy(inner, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      if (name !== "commit") return value.bind(target) as unknown;
      return async (...args: Parameters<Store["commit"]>) => {
        writes.push(...args[0].flat());
        if (next && args[0].flat().some(next.isMeant)) {
          const { work } = next;
          next = undefined;
          await work();
        }
        return target.commit(...args);
      };
    },
  });
  return {
    memory: await memoryOn(store),
    before(isMeant, work) {
      next = { isMeant, work };
    },
    tried: (isMeant) => writes.filter(isMeant).length,
  };
}
