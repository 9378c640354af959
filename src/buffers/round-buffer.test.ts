import { expect, it } from "vitest";
import { FakeClock } from "../testing/fake-clock.js";
import { heapUsed } from "../testing/heap-used.js";
import { RoundBuffer } from "./round-buffer.js";

const MIB = 1024 * 1024;

interface Filled {
  readonly buffer: RoundBuffer;
  readonly used: number;
}

it("the RoundBuffer takes less than 1 MB for 1,000 sessions that wait: what they said is in the store", () => {
  const fill = () => {
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
    return { buffer, used: heapUsed() - before };
  };
  // What else the process allocates meanwhile, such as compiled code, counts only once.
  const [{ buffer, used }] = [fill(), fill(), fill()].toSorted((one, other) => one.used - other.used).slice(1) as [
    Filled,
  ];
  expect(used).toBeLessThan(MIB);
  const { sessions, bytes } = buffer.stats;
  expect(sessions).toBe(1_000);
  expect(bytes / used).toBeGreaterThan(0.5);
  expect(bytes / used).toBeLessThan(2);
});

it("the RoundBuffer reports what each session holds, why it is due, and how long its oldest item has waited", async () => {
  const clock = new FakeClock();
  const buffer = new RoundBuffer({
    ...{ clock, maxTokens: 800, maxSize: 2, idleMs: 60_000, eager: true },
    gathered: async () => ({ rounds: 0, texts: [] }),
    countTokens: async () => [],
    onDue: () => {},
  });
  const lane = { space: { user: "ada" }, session: "s" };
  const held = () => buffer.sessions.map(([, session]) => session);
  buffer.added(lane, 1);
  clock.advance(300);
  expect(held()).toEqual([{ state: "due", reason: "eager", rounds: 1, tokens: 0, oldestMs: 300 }]);
  buffer.added(lane, 1);
  expect(held()).toMatchObject([{ reason: "rounds", rounds: 2, oldestMs: 300 }]);
  const taken = buffer.take(1);
  expect(held()).toEqual([{ state: "transferring", rounds: 0, tokens: 0, oldestMs: 300 }]);
  clock.advance(100);
  buffer.added(lane, 1);
  clock.advance(50);
  expect(held(), "what was taken no longer counts").toMatchObject([{ state: "transferring", rounds: 1, oldestMs: 50 }]);
  buffer.settle(taken, [], []);
  expect(held()).toMatchObject([{ state: "due", rounds: 1, oldestMs: 50 }]);
  expect(buffer.stats).toMatchObject({ oldestMs: 50, thresholds: { maxTokens: 800, maxSize: 2, eager: true } });
  buffer.settle(buffer.take(1), [], []);
  expect(held()).toEqual([]);
  expect(buffer.stats).not.toHaveProperty("oldestMs");
});
