/**
 * A process is killed repeatedly during its work on a buffer. Acknowledged work must be there, in order and once;
 * acknowledged entries must not come back; pending work is there completely or not at all.
 *
 * HOLDFAST_TEST_KILLS sets the number of kills (6 by default), HOLDFAST_TEST_SEED replays the plan of another run.
 */
import { join } from "node:path";
import { expect, it } from "vitest";
import { inFolder } from "../../support/folder.js";
import { Random, testSeed } from "../../support/random.js";
import { Books } from "./books.js";
import { unsoundBuffer } from "./unsound.js";
import { WorkerProcess } from "./worker-process.js";

const kills = Number(process.env["HOLDFAST_TEST_KILLS"] ?? 6);
const CALLS_PER_LIFE = 100_000;
/** Short, so that a process leases what an earlier one had leased. */
const LEASE_MS = 20;
const DAY_MS = 24 * 60 * 60 * 1000;

/** One life: from checking what the last one left to its kill. Returns what is wrong. */
async function live(path: string, life: number, books: Books, random: Random): Promise<string[]> {
  const problems: string[] = [];
  const isEarly = random.chance(0.15);
  const delayMs = random.fraction() * (isEarly ? 120 : 2);
  let left = random.between(1, 250);
  const worker = new WorkerProcess(path, 0, (report) => {
    if (report.say === "open") worker.give({ do: "look", ids: books.ids });
    if (report.say === "found") {
      problems.push(...books.audit(report.found));
      worker.give({ do: "work", from: life * CALLS_PER_LIFE, seed: random.between(0, 2 ** 31), leaseMs: LEASE_MS });
    }
    if (report.say === "begin") books.begin(report.call);
    if (report.say === "done") problems.push(...books.end(report.numbers));
    if (!isEarly && --left === 0) setTimeout(() => worker.kill(), delayMs);
  });
  if (isEarly) setTimeout(() => worker.kill(), delayMs);
  const { signal, stderr } = await worker.ended;
  if (signal !== "SIGKILL") problems.push(`the worker ended by itself: ${stderr}`);
  return problems;
}

it(
  `loses nothing and brings nothing back, in ${kills} kills`,
  () =>
    inFolder(async (folder) => {
      const path = join(folder, "buffer.db");
      const random = new Random(testSeed("buffer store, killed"));
      const books = new Books();
      for (let life = 1; life <= kills; life++) expect(await live(path, life, books, random)).toEqual([]);
      console.log(`buffer store: ${kills} kills, ${books.done} calls returned, ${books.kept.length} entries left`);
      expect(books.done).toBeGreaterThan(kills);

      // The leases of killed processes end: one consumer gets everything that is left, in order.
      const last = new WorkerProcess(path, DAY_MS);
      expect(books.audit(await last.look(books.ids))).toEqual([]);
      const expected = books.kept;
      const leased: number[] = [];
      const problems: string[] = [];
      await last.until("idle", { do: "drain" }, (report) => {
        if (report.say === "begin") books.begin(report.call);
        if (report.say !== "done") return;
        if (books.isLeasing) leased.push(...report.numbers);
        problems.push(...books.end(report.numbers));
      });
      expect(problems).toEqual([]);
      expect(leased).toEqual(expected);
      expect(await last.look([])).toEqual({ entries: [], injected: [] });
      await last.close();
      expect(unsoundBuffer(path)).toEqual([]);
    }),
  (kills + 1) * 10_000,
);
