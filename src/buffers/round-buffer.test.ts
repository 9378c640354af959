import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { FakeClock } from "../testing/fake-clock.js";
import { RoundBuffer } from "./round-buffer.js";

const MIB = 1024 * 1024;

function heapUsed(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc()");
  return process.memoryUsage().heapUsed;
}

it("the RoundBuffer takes less than 1 MB for 1,000 sessions that wait: what they said is in the store", () => {
  const buffer = new RoundBuffer({
    clock: new FakeClock(),
    maxTokens: 800,
    maxSize: 5,
    idleMs: 60_000,
    eager: true,
    gathered: async () => ({ rounds: 0, texts: [] }),
    countTokens: async (texts) => texts.map(() => 1),
    onDue: () => {},
  });
  const before = heapUsed();
  for (let at = 0; at < 1_000; at++) buffer.added({ space: { user: `user ${at}` }, session: `session ${at}` }, 1);
  const used = heapUsed() - before;
  expect(used).toBeLessThan(MIB);
  const { sessions, bytes } = buffer.stats;
  expect(sessions).toBe(1_000);
  expect(bytes / used).toBeGreaterThan(0.5);
  expect(bytes / used).toBeLessThan(2);
});
