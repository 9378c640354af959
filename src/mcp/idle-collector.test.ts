import { expect, it } from "vitest";
import { FakeClock } from "../testing/fake-clock.js";
import { IdleCollector } from "./idle-collector.js";

it("memory is released once, ten seconds after the last question", () => {
  const clock = new FakeClock();
  let given = 0;
  const idle = new IdleCollector(clock, async () => {
    given++;
  });
  clock.advance(60_000);
  expect(given).toBe(0);
  idle.used();
  clock.advance(9_999);
  idle.used();
  clock.advance(9_999);
  expect(given).toBe(0);
  clock.advance(1);
  expect(given).toBe(1);
  clock.advance(60_000);
  expect(given).toBe(1);
  idle.used();
  idle.stop();
  clock.advance(60_000);
  expect(given).toBe(1);
});

it("what is garbage is gone then", async () => {
  const clock = new FakeClock();
  const idle = new IdleCollector(clock);
  const garbage = new WeakRef(Array.from({ length: 1000 }, (_, at) => ({ at })));
  await new Promise((resolve) => setImmediate(resolve));
  expect(garbage.deref()).toBeDefined();
  await new Promise((resolve) => setImmediate(resolve)); // a dereferenced WeakRef keeps its object alive until the turn ends
  idle.used();
  clock.advance(10_000);
  await import("node:inspector/promises"); // as the product does
  await new Promise((resolve) => setImmediate(resolve));
  expect(garbage.deref()).toBeUndefined();
});
