/** Ready means that a write succeeds now. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { loadConfig } from "../config.js";
import { Memory } from "../memory.js";
import { BufferService } from "../service.js";
import { SqliteStore } from "../stores/sqlite/store.js";
import { FakeClock } from "../testing/fake-clock.js";
import { FaultyStore } from "../testing/faulty-store.js";
import { HashEmbedder } from "../testing/hash-embedder.js";
import { readiness } from "./readiness.js";

let clock: FakeClock;
let store: FaultyStore;
let embedder: HashEmbedder;
let memory: Memory;

beforeEach(async () => {
  clock = new FakeClock();
  store = new FaultyStore(await SqliteStore.open({ path: ":memory:", busyTimeoutMs: 1_000 }));
  embedder = new HashEmbedder();
  const options = loadConfig({ code: { path: ":memory:", clock, embedder }, env: {}, file: undefined });
  memory = new Memory(new BufferService(store, options, { embedder }));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await memory.close();
});

const say = (content: string) => [{ role: "user", content } as const];

it("reports pending items and the model's state, and is ready in any case", async () => {
  expect(await readiness(memory)).toEqual({
    ready: true,
    checks: {
      store: { writable: true, writes: "ok" },
      queue: { pending: 0, parked: 0, oldestPendingMs: 0 },
      model: "not loaded",
    },
  });
  embedder.refuse((text) => text === "poison");
  await memory.session({ user: "ada" }).add([...say("poison"), ...say("lamp")]);
  await memory.flush();
  expect((await readiness(memory)).checks).toMatchObject({ queue: { pending: 0, parked: 1 }, model: "loaded" });
  const release = embedder.stall();
  await memory.session({ user: "ada" }).add(say("rope"));
  clock.advance(1_500);
  expect((await readiness(memory)).checks.queue).toEqual({ pending: 1, parked: 1, oldestPendingMs: 1_500 });
  release();
});

it("is not ready while the store refuses writes, and ready again when it takes them", async () => {
  store.failCommits("failed");
  expect(await readiness(memory)).toMatchObject({
    ready: false,
    checks: { store: { writable: false, error: "store_failed" }, queue: { pending: 0 } },
  });
  await memory
    .session({ user: "ada" })
    .add(say("takes the fault"))
    .catch(() => undefined);
  expect(await readiness(memory)).toMatchObject({ ready: true, checks: { store: { writable: true } } });
});

it("is not ready when a write takes too long, and does not wait for it", async () => {
  vi.spyOn(store, "proveWritable").mockReturnValue(new Promise(() => {}));
  const asked = readiness(memory);
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(2_000);
  expect(await asked).toMatchObject({ ready: false, checks: { store: { writable: false, error: "busy" } } });
});

it("is not ready when the memory is closed", async () => {
  await memory.close();
  expect(await readiness(memory)).toEqual({ ready: false, checks: { store: { writable: false, error: "closed" } } });
});

it("tries one write for all requests within a second, and another after a failure", async () => {
  const prove = vi.spyOn(store, "proveWritable");
  await Promise.all([readiness(memory), readiness(memory)]);
  clock.advance(999);
  await readiness(memory);
  expect(prove).toHaveBeenCalledTimes(1);
  clock.advance(1);
  store.failCommits("failed");
  expect((await readiness(memory)).ready).toBe(false);
  expect((await readiness(memory)).ready).toBe(false);
  expect(prove).toHaveBeenCalledTimes(3);
});
