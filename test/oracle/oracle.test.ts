/**
 * Never stale: random operations, with every answer compared to one computed from the list of what exists. A failure
 * prints the shortest sequence of operations that shows it, with its seed and path.
 */
import { join } from "node:path";
import fc from "fast-check";
import type { NewItem } from "holdfast";
import { FakeClock } from "holdfast/testing";
import { expect, it } from "vitest";
import { inFolder } from "../support/folder.js";
import { Random } from "../support/random.js";
import { checkAnswer } from "./check.js";
import { Comparison, type Tally } from "./comparison.js";
import { Conversation, type SpaceState } from "./conversation.js";
import { announcements, type Operation, operations, START } from "./operations.js";
import { Oracle } from "./oracle.js";
import { ONE_MIRROR_BYTES, openService, type Setting } from "./service.js";

const MIB = 1024 * 1024;
const DAY = 86_400_000;
const RUNS = Number(process.env["HOLDFAST_TEST_ORACLE_RUNS"] ?? 10);
/** With `contextual`, a vector may be of a neighbour's older text while it waits to be written. */
const STRATEGY = process.env["HOLDFAST_TEST_ORACLE_STRATEGY"] === "contextual" ? "contextual" : "message";
/** How long a failure may be shrunk. */
const LIMIT_MS = Number(process.env["HOLDFAST_TEST_ORACLE_MS"] ?? 300_000);

/** Answers and mirrors that are evicted all the time, or never, or not cached at all. */
const setting: fc.Arbitrary<Setting> = fc.record({
  strategy: fc.constant(STRATEGY),
  eager: fc.boolean(),
  cacheSize: fc.constantFrom(2, 2, 100, 0),
  queryBytes: fc.constantFrom(MIB, 16 * MIB),
  mirrorBytes: fc.constantFrom(ONE_MIRROR_BYTES, ONE_MIRROR_BYTES, 0, 8 * MIB),
});

async function compare(
  services: number,
  setting: Setting,
  sequence: readonly Operation[],
  tally: Tally,
): Promise<void> {
  await inFolder(async (folder) => {
    const comparison = new Comparison(join(folder, "memory.db"), setting, tally);
    await comparison.open(services);
    try {
      for (const operation of sequence) await comparison.run(operation);
      await comparison.finish();
    } finally {
      await comparison.close();
    }
  });
}

async function compareAll(
  services: number,
  settings: fc.Arbitrary<Setting>,
  runs: number,
  sequences = operations,
): Promise<Tally> {
  const tally = { answers: 0, partial: 0, cached: 0, victims: 0, ahead: 0, searched: 0 };
  const property = fc.asyncProperty(settings, sequences, (one, sequence) => compare(services, one, sequence, tally));
  await fc.assert(property, {
    numRuns: runs,
    interruptAfterTimeLimit: LIMIT_MS,
    markInterruptAsFailure: true,
  });
  console.log(
    `oracle: ${runs} sequences of operations, ${tally.answers} answers compared, ${tally.ahead} of them made ahead`,
  );
  return tally;
}

it("one service answers as if it had read every item, whatever happens", { timeout: 600_000 }, async () => {
  const tally = await compareAll(1, setting, RUNS);
  expect(tally.cached).toBeGreaterThan(RUNS / 4);
  expect(tally.partial).toBeLessThan(tally.answers / 10);
  // Random runs may miss the victim cache, so runs are added until it is hit.
  const tight = setting.map((one) => ({ ...one, cacheSize: 2 }));
  let { victims } = tally;
  for (let more = 0; victims === 0 && more < 8; more++)
    victims += (await compareAll(1, tight, Math.ceil(RUNS / 4))).victims;
  expect(victims).toBeGreaterThan(0);
});

it("two services on one file do too, whichever of them has written", { timeout: 600_000 }, async () => {
  const tally = await compareAll(2, setting, RUNS);
  expect(tally.cached).toBeGreaterThan(RUNS / 4);
  expect(tally.partial).toBeLessThan(tally.answers / 10);
});

it("answers made ahead of time are the same, whatever is written before and after", { timeout: 600_000 }, async () => {
  const tally = await compareAll(1, setting, Math.ceil(RUNS / 2), announcements);
  expect(tally.ahead).toBeGreaterThan(0); // about a tenth
});

it("a service that works by words alone does too", { timeout: 600_000 }, async () => {
  const wordsOnly = setting.map(({ strategy: _strategy, ...rest }): Setting => rest);
  const tally = await compareAll(1, wordsOnly, Math.ceil(RUNS / 2));
  expect(tally.partial).toBe(0);
});

it("in a space of many items the best hits are those of a full scan", async () => {
  await inFolder(async (folder) => {
    const random = new Random(4);
    const clock = new FakeClock(START);
    const wide = {
      eager: true,
      cacheSize: 100,
      queryBytes: 16 * MIB,
      mirrorBytes: 8 * MIB,
      strategy: "message",
    } as const;
    const memory = await openService({ path: join(folder, "memory.db"), clock, ...wide });
    const conversation = new Conversation();
    const oracle = new Oracle(conversation, "message");
    const words = Array.from({ length: 150 }, (_, at) => `w${"bcdfghjklm"[at % 10]}${"aeiou"[at % 5]}${at}`);
    // Some words are common and most are rare, as in real text.
    const word = () => String(words[Math.floor(words.length * random.fraction() ** 3)]);
    const phrase = (most: number) => Array.from({ length: random.between(2, most) }, word).join(" ");
    for (let round = 0; round < 40; round++) {
      const session = round % 2;
      const items = Array.from({ length: 20 }, (_, at) => ({
        id: `m${round * 20 + at}`,
        kind: "message" as const,
        role: random.pick(["user", "assistant"] as const),
        content: `${phrase(9)}. ${phrase(9)}.`,
        occurredAt: START - random.between(0, 90) * DAY,
      }));
      await memory
        .session({ user: "ada", session: conversation.sessionName(conversation.space(0), session) })
        .add(items.map(({ kind: _kind, ...item }) => item));
      conversation.add(0, session, undefined, items as readonly unknown[] as readonly NewItem[], clock.now());
    }
    await memory.flush();
    const [space] = conversation.spaces as readonly [SpaceState];
    for (let asked = 0; asked < 40; asked++) {
      const text = asked % 4 === 0 ? `you told me ${phrase(4)}` : phrase(4);
      const filter = asked % 5 === 0 ? { role: "user" as const } : {};
      const hits = await memory.session({ user: "ada" }).query(text, filter);
      const expected = await oracle.answer({ text, spaces: [space], recency: 0, ...filter }, clock.now());
      checkAnswer(hits, expected, { user: "ada" }, filter);
    }
    await memory.close();
  });
});
