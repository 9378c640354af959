import { expect, test, vi } from "vitest";
import { openMemory } from "./memory.js";
import { FakeClock } from "./testing/fake-clock.js";

const calls = vi.hoisted(() => ({ count: 0 }));

vi.mock("./buffers/query/retriever.js", async (original) => ({
  ...(await original<typeof import("./buffers/query/retriever.js")>()),
  warmUp: async () => {
    calls.count++;
    throw new ReferenceError("cannot access 'dates' before initialization");
  },
}));

test("a warm-up that fails, as in a bundle in one file that has not run yet, does not end the process", async () => {
  const unhandled = vi.fn();
  process.on("unhandledRejection", unhandled);
  const clock = new FakeClock();
  const memory = await openMemory({ path: ":memory:", clock, buffer: { hybridBuffer: { embeddingModel: "none" } } });
  clock.advance(1_000);
  expect(calls.count).toBe(1);
  await new Promise(setImmediate); // unhandled rejections are reported after the microtasks
  expect(unhandled).not.toHaveBeenCalled();
  process.off("unhandledRejection", unhandled);
  await memory.close();
});
