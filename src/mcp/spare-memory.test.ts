import { expect, it } from "vitest";
import { FakeClock } from "../testing/fake-clock.js";
import { SpareMemory } from "./spare-memory.js";

it("memory is given back once, ten seconds after the last question", () => {
  const clock = new FakeClock();
  let given = 0;
  const spare = new SpareMemory(clock, async () => {
    given++;
  });
  clock.advance(60_000);
  expect(given).toBe(0);
  spare.used();
  clock.advance(9_999);
  spare.used();
  clock.advance(9_999);
  expect(given).toBe(0);
  clock.advance(1);
  expect(given).toBe(1);
  clock.advance(60_000);
  expect(given).toBe(1);
  spare.used();
  spare.stop();
  clock.advance(60_000);
  expect(given).toBe(1);
});

it("what is garbage is gone then", async () => {
  const clock = new FakeClock();
  const spare = new SpareMemory(clock);
  const garbage = new WeakRef(Array.from({ length: 1000 }, (_, at) => ({ at })));
  await new Promise((resolve) => setImmediate(resolve));
  expect(garbage.deref()).toBeDefined();
  await new Promise((resolve) => setImmediate(resolve)); // a dereferenced WeakRef keeps its object alive until the turn ends
  spare.used();
  clock.advance(10_000);
  await import("node:inspector/promises"); // as the product does
  await new Promise((resolve) => setImmediate(resolve));
  expect(garbage.deref()).toBeUndefined();
});
