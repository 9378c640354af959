/**
 * A process that edits blocks, records facts, fills windows and commits turns is killed again and again, on one file.
 * What was acknowledged must be there: every version of a block with its text and its log entry, every fact with its
 * state, every window. A call in progress has happened completely or not at all.
 *
 * HOLDFAST_TEST_KILLS sets the number of kills (default 4). HOLDFAST_TEST_SEED replays the plan of another run.
 */
import { join } from "node:path";
import { expect, it } from "vitest";
import { inFolder } from "../support/folder.js";
import { Random, testSeed } from "../support/random.js";
import { CarriedBooks } from "./carried-books.js";
import { liveCarried, planCarried } from "./carried-life.js";
import { count, type Finding } from "./finding.js";

const kills = Number(process.env["HOLDFAST_TEST_KILLS"] ?? 4);
/** So long a life may last at most, with what is checked in it. */
const LIFE_MS = 60_000;

it(
  `loses, repeats and tears nothing of blocks, facts, windows and turns, in ${kills} kills`,
  () =>
    inFolder(async (folder) => {
      const path = join(folder, "memory.db");
      const random = new Random(testSeed("killed while it carries"));
      const books = new CarriedBooks();
      const findings: Finding[] = [];
      let life = 1;
      for (; life <= kills && findings.length === 0; life++) {
        findings.push(...(await liveCarried(path, life, books, random, planCarried(random))));
      }
      if (findings.length === 0) findings.push(...(await liveCarried(path, life, books, random)));
      const { acknowledged, underWay, doneUnderWay } = books.counts;
      const counts = (["lost", "duplicated", "out of order", "torn", "ghost", "unfound", "unsound"] as const).map(
        (problem) => `${problem} ${count(findings, problem)}`,
      );
      const known = `acknowledged ${acknowledged} · under way ${underWay}, of them done ${doneUnderWay}`;
      console.log(`carried: kills ${life - 1} · ${known} · ${counts.join(" · ")}`);
      expect(findings.slice(0, 20)).toEqual([]);
      expect(acknowledged).toBeGreaterThan(kills);
    }),
  (kills + 1) * LIFE_MS,
);
