/** When memory counts as short, and when it no longer does. */
import { expect, it, onTestFinished } from "vitest";
import { HoldfastError } from "./errors.js";
import { MemoryPressure, type MemorySource } from "./memory-pressure.js";
import { FakeClock } from "./testing/fake-clock.js";

const MIB = 1024 * 1024;
const SECOND = 1_000;

class Process implements MemorySource {
  resident = 100;
  heap = 10;
  readonly #listeners = new Set<() => void>();

  usage() {
    return { residentBytes: this.resident * MIB, heapBytes: this.heap * MIB, maxHeapBytes: 100 * MIB };
  }

  onCollected(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  collect(): void {
    for (const listener of this.#listeners) listener();
  }

  get listeners(): number {
    return this.#listeners.size;
  }
}

function watched({ maxBytes = 0, fail = false } = {}) {
  const clock = new FakeClock();
  const source = new Process();
  const told: boolean[] = [];
  const part = {
    constrain: async (isShort: boolean) => {
      told.push(isShort);
      if (fail) throw new HoldfastError("closed", "the store is closed");
    },
  };
  const pressure = new MemoryPressure(clock, maxBytes, [part, undefined], source);
  onTestFinished(() => pressure.stop());
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += SECOND) {
      clock.advance(SECOND);
      await Promise.resolve();
    }
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { clock, source, told, pressure, pass };
}

it("is short above the configured limit, and no longer when it has fallen well below it, ten seconds later", async () => {
  const { source, told, pressure, pass } = watched({ maxBytes: 200 * MIB });
  await pass(5 * SECOND);
  expect(told).toEqual([]);
  source.resident = 201;
  await pass(SECOND);
  expect(told).toEqual([true]);
  source.resident = 180; // not far enough below
  await pass(60 * SECOND);
  expect(told).toEqual([true]);
  source.resident = 150;
  await pass(SECOND);
  expect(told).toEqual([true, false]);
  expect(pressure.stats).toMatchObject({ isShort: false, shortages: 1, maxBytes: 200 * MIB, residentBytes: 150 * MIB });
});

it("waits longer each time it is short again soon", async () => {
  const { source, told, pass } = watched({ maxBytes: 200 * MIB });
  const recoveries: number[] = [];
  for (let time = 0; time < 3; time++) {
    source.resident = 300;
    await pass(SECOND);
    expect(told.at(-1)).toBe(true);
    source.resident = 100;
    let seconds = 0;
    while (told.at(-1)) {
      await pass(SECOND);
      seconds++;
    }
    recoveries.push(seconds);
  }
  expect(recoveries).toEqual([10, 20, 40]);
});

it("is short when a collection leaves the heap nearly full, with no limit configured", async () => {
  const { clock, source, told, pass } = watched();
  source.heap = 90;
  await pass(10 * SECOND);
  expect(told, "garbage counts for nothing").toEqual([]);
  expect(clock.pending, "nothing wakes an idle process").toBe(0);
  source.collect();
  await pass(SECOND);
  expect(told).toEqual([true]);
  source.heap = 20;
  await pass(10 * SECOND);
  expect(told).toEqual([true, false]);
  expect(clock.pending).toBe(0);
});

it("goes on after a part fails, and looks no more when it is stopped", async () => {
  const { clock, source, told, pressure, pass } = watched({ maxBytes: 200 * MIB, fail: true });
  source.resident = 300;
  await pass(SECOND);
  source.resident = 100;
  await pass(10 * SECOND);
  expect(told).toEqual([true, false]);
  await pressure.stop();
  expect(clock.pending).toBe(0);
  expect(source.listeners).toBe(0);
});
