/**
 * A real process is killed again and again while it works on one file, which is never closed properly in between. What
 * was acknowledged must be there, in order and once. A call in progress has happened completely or not at all. An item
 * has the vectors of its own text or none, and everything pending is embedded in the end.
 *
 * HOLDFAST_TEST_KILLS sets the number of kills (default 6). HOLDFAST_TEST_SEED replays the plan of another run: the
 * same kills and the same texts. The operating system determines the instant of a kill, so a replay is close, not
 * exact.
 */
import { join } from "node:path";
import { openMemory } from "holdfast";
import { expect, it } from "vitest";
import { inFolder } from "../support/folder.js";
import { HashEmbedder } from "../support/product.js";
import { Random, testSeed } from "../support/random.js";
import { auditVectors } from "../support/vectors.js";
import { count, type Finding } from "./finding.js";
import { foundByMeaning } from "./found.js";
import { Ledger } from "./ledger.js";
import { type CrashFile, live, planLife } from "./life.js";
import { LANES } from "./operation.js";

const kills = Number(process.env["HOLDFAST_TEST_KILLS"] ?? 6);
const killsBesideOthers = Math.ceil(kills / 5);
const files = Math.ceil(Math.min(kills, 100) / 5);
/** So long a life may last at most, with what is checked in it. */
const LIFE_MS = 60_000;
/** Leases of a process that is killed are taken over at once; of one that is slow, after so long. */
const LEASE_MS = 300;

function newFile(folder: string, name = "memory.db", traits: Partial<CrashFile> = {}): CrashFile {
  const path = join(folder, name);
  return { path, strategy: "message", isShared: false, comparedTo: 0, leftPending: 0, ...traits };
}

/** Lets so many writers live and die on the file, and the last one close it. Stops at the first thing that is wrong. */
async function killWriters(file: CrashFile, lives: number, what: string): Promise<Ledger> {
  const random = new Random(testSeed(what));
  const ledger = new Ledger();
  const findings: Finding[] = [];
  let life = 1;
  for (; life <= lives && findings.length === 0; life++) {
    findings.push(...(await live(file, life, ledger, random, planLife(random))));
  }
  if (findings.length === 0) findings.push(...(await live(file, life, ledger, random)));
  const counts = (["lost", "duplicated", "out of order", "torn", "unsound"] as const).map(
    (problem) => `${problem} ${count(findings, problem)}`,
  );
  const left = `left to be embedded ${file.leftPending}`;
  console.log(`${what}: kills ${life - 1} · acknowledged ${ledger.acknowledged} · ${left} · ${counts.join(" · ")}`);
  expect(findings.slice(0, 20)).toEqual([]);
  return ledger;
}

/** Every item is embedded, once, and found by meaning, once. */
async function expectEmbedded({ path, strategy }: CrashFile, items: number): Promise<void> {
  const { problems, ...audit } = await auditVectors(path, strategy);
  expect(problems).toEqual([]);
  expect(audit).toMatchObject({ items, compared: items, pending: 0, parked: 0 });
  expect(await foundByMeaning(path)).toEqual({ items, twice: [] });
}

it(
  `loses nothing that was acknowledged, in ${kills} kills`,
  () =>
    inFolder(async (folder) => {
      const file = newFile(folder);
      const ledger = await killWriters(file, kills, "killed");
      await expectEmbedded(file, ledger.items);
    }),
  (kills + 1) * LIFE_MS,
);

it(
  `loses nothing while another process that embeds keeps the file open, in ${killsBesideOthers} kills`,
  () =>
    inFolder(async (folder) => {
      const file = newFile(folder, "memory.db", { strategy: "contextual", isShared: true });
      const { path, strategy } = file;
      const hybridBuffer = { chunkStrategy: strategy, leaseMs: LEASE_MS, maxSize: 2, idleMs: 50 };
      const memory = await openMemory({ path, embedder: new HashEmbedder(), buffer: { hybridBuffer } });
      const ledger = await killWriters(file, killsBesideOthers, "killed beside another process");
      let items = 0;
      for (const scope of LANES) {
        for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
          const page = await memory.session(scope).list({ limit: 1000, ...(cursor && { cursor }) });
          items += page.items.length;
          cursor = page.next;
        }
      }
      expect(items).toBe(ledger.items);
      expect(await memory.flush()).toEqual({ pending: 0, parked: 0 });
      const { meaning } = await memory.stats();
      console.log(`the other process wrote the vectors of ${meaning?.hybrid.itemsWritten} items`);
      await memory.close();
      await expectEmbedded(file, items);
    }),
  (killsBesideOthers + 1) * LIFE_MS,
);

it(
  `opens a file whose making was interrupted, ${files} times`,
  () =>
    inFolder(async (folder) => {
      const random = new Random(testSeed("killed while the file is made"));
      for (let made = 1; made <= files; made++) {
        const file = newFile(folder, `memory-${made}.db`);
        const ledger = new Ledger();
        const plan = { moment: "opening", skip: 0, delayMs: random.fraction() * 120, mood: "mixed" } as const;
        const findings = [...(await live(file, 1, ledger, random, plan)), ...(await live(file, 2, ledger, random))];
        expect(findings).toEqual([]);
      }
    }),
  files * LIFE_MS,
);
