import { afterAll, expect, test, vi } from "vitest";
import { FakeClock } from "./testing/fake-clock.js";

const retriever = "./buffers/query/retriever.js";
afterAll(() => {
  vi.doUnmock(retriever);
  vi.resetModules();
});

test("a warm-up that fails, as in a bundle in one file that has not run yet, does not end the process", async () => {
  const warmUp = vi.fn(async () => {
    throw new ReferenceError("cannot access 'dates' before initialization");
  });
  vi.resetModules(); // test files share a process, and another one may have loaded it
  vi.doMock(retriever, async (original) => ({ ...(await original<object>()), warmUp }));
  const { openMemory } = await import("./memory.js");
  const unhandled = vi.fn();
  process.on("unhandledRejection", unhandled);
  const clock = new FakeClock();
  const memory = await openMemory({ path: ":memory:", clock, buffer: { hybridBuffer: { embeddingModel: "none" } } });
  clock.advance(1_000);
  expect(warmUp).toHaveBeenCalledOnce();
  await new Promise(setImmediate); // unhandled rejections are reported after the microtasks
  expect(unhandled).not.toHaveBeenCalled();
  process.off("unhandledRejection", unhandled);
  await memory.close();
});
