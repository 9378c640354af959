/** A BufferService on a file, whose writes of vectors can be held: the moment when a flush is prepared and not done. */
import { BufferService, type OpenOptions } from "holdfast";
import { SqliteStore, type Store } from "holdfast/stores";
import { FakeClock, HashEmbedder } from "holdfast/testing";
import { loadConfig } from "../support/product.js";

export interface HeldService {
  readonly service: BufferService;
  readonly embedder: HashEmbedder;
  /** Holds commits with vectors from now on, until the returned function is called. */
  hold(): () => void;
  /** How many commits are held. */
  held(): number;
}

export async function openHeld(path: string, buffer: OpenOptions["buffer"]): Promise<HeldService> {
  const embedder = new HashEmbedder();
  const clock = new FakeClock(); // a question waits for what is embedded as long as that takes
  const options = loadConfig({ code: { path, clock, embedder, buffer }, env: {}, file: undefined });
  const inner = await SqliteStore.open({ path, ...options.store });
  let gate: Promise<void> = Promise.resolve();
  let held = 0;
  const store = new Proxy(inner, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      if (name !== "commit") return value.bind(target) as unknown;
      return async (...args: Parameters<Store["commit"]>) => {
        if (args[0].some(([write]) => write?.op === "index")) {
          held++;
          await gate;
          held--;
        }
        return target.commit(...args);
      };
    },
  });
  const service = new BufferService(store, options, { embedder });
  await service.start();
  return {
    service,
    embedder,
    held: () => held,
    hold() {
      let release = (): void => {};
      gate = new Promise((resolve) => {
        release = resolve;
      });
      return release;
    },
  };
}
