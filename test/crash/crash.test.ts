/**
 * A real process is killed in the middle of its work, again and again, on one file that is never closed properly in
 * between. What it was told is done must be there, in order and once; what was under way, wholly or not at all.
 *
 * HOLDFAST_TEST_KILLS says how often (25 if left out), HOLDFAST_TEST_SEED replays the plan of another run: the same
 * kills and the same texts. The instant of a kill is the operating system's, so a replay is near, not exact.
 */
import { join } from "node:path";
import { openMemory } from "holdfast";
import { expect, it } from "vitest";
import { inFolder } from "../support/folder.js";
import { Random, testSeed } from "../support/random.js";
import { count, type Finding } from "./finding.js";
import { Ledger } from "./ledger.js";
import { live, planLife } from "./life.js";
import { LANES } from "./operation.js";

const kills = Number(process.env["HOLDFAST_TEST_KILLS"] ?? 25);
const killsBesideOthers = Math.ceil(kills / 5);
const files = Math.ceil(Math.min(kills, 100) / 5);
/** So long a life may last at most, with what is checked in it. */
const LIFE_MS = 15_000;

/** Lets so many writers live and die on the file, and the last one close it. Stops at the first thing that is wrong. */
async function killWriters(path: string, lives: number, what: string): Promise<Ledger> {
  const random = new Random(testSeed(what));
  const ledger = new Ledger();
  const findings: Finding[] = [];
  let life = 1;
  for (; life <= lives && findings.length === 0; life++) {
    findings.push(...(await live(path, life, ledger, random, planLife(random))));
  }
  if (findings.length === 0) findings.push(...(await live(path, life, ledger, random)));
  const counts = (["lost", "duplicated", "out of order", "torn"] as const).map(
    (problem) => `${problem} ${count(findings, problem)}`,
  );
  console.log(`${what}: kills ${life - 1} · acknowledged ${ledger.acknowledged} · ${counts.join(" · ")}`);
  expect(findings.slice(0, 20)).toEqual([]);
  return ledger;
}

it(
  `loses nothing that was acknowledged, in ${kills} kills`,
  () => inFolder((folder) => killWriters(join(folder, "memory.db"), kills, "killed")),
  (kills + 1) * LIFE_MS,
);

it(
  `loses nothing while another process keeps the file open, in ${killsBesideOthers} kills`,
  () =>
    inFolder(async (folder) => {
      const path = join(folder, "memory.db");
      const memory = await openMemory({ path });
      const ledger = await killWriters(path, killsBesideOthers, "killed beside another process");
      let items = 0;
      for (const scope of LANES) {
        for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
          const page = await memory.session(scope).list({ limit: 1000, ...(cursor && { cursor }) });
          items += page.items.length;
          cursor = page.next;
        }
      }
      expect(items).toBe(ledger.items);
      await memory.close();
    }),
  (killsBesideOthers + 1) * LIFE_MS,
);

it(
  `opens a file whose making was interrupted, ${files} times`,
  () =>
    inFolder(async (folder) => {
      const random = new Random(testSeed("killed while the file is made"));
      for (let file = 1; file <= files; file++) {
        const path = join(folder, `memory-${file}.db`);
        const ledger = new Ledger();
        const plan = { moment: "opening", skip: 0, delayMs: random.fraction() * 120, mood: "mixed" } as const;
        const findings = [...(await live(path, 1, ledger, random, plan)), ...(await live(path, 2, ledger, random))];
        expect(findings).toEqual([]);
      }
    }),
  files * LIFE_MS,
);
