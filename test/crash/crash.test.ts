/**
 * A real process is killed in the middle of its work, again and again, on one file that is never closed properly in
 * between. What it was told is done must be there, in order and once; what was under way, wholly or not at all.
 *
 * HOLDFAST_TEST_KILLS says how often (25 if left out), HOLDFAST_TEST_SEED replays the plan of another run: the same
 * kills and the same texts. The instant of a kill is the operating system's, so a replay is near, not exact.
 */
import { join } from "node:path";
import { expect, it } from "vitest";
import { inFolder } from "../support/folder.js";
import { Random, testSeed } from "../support/random.js";
import { count, type Finding } from "./finding.js";
import { Ledger } from "./ledger.js";
import { live, planLife } from "./life.js";

const kills = Number(process.env["HOLDFAST_TEST_KILLS"] ?? 25);
/** So long a life may last at most, with what is checked in it. */
const LIFE_MS = 10_000;

it(
  `loses nothing that was acknowledged, in ${kills} kills`,
  () =>
    inFolder(async (folder) => {
      const random = new Random(testSeed("kills"));
      const ledger = new Ledger();
      const findings: Finding[] = [];
      const path = join(folder, "memory.db");
      let life = 1;
      for (; life <= kills && findings.length === 0; life++) {
        findings.push(...(await live(path, life, ledger, random, planLife(random))));
      }
      if (findings.length === 0) findings.push(...(await live(path, life, ledger, random)));
      const counts = (["lost", "duplicated", "out of order", "torn"] as const).map(
        (problem) => `${problem} ${count(findings, problem)}`,
      );
      console.log(
        `kills ${life - 1} · acknowledged ${ledger.acknowledged} · ${counts.join(" · ")} · left ${ledger.items}`,
      );
      expect(findings.slice(0, 20)).toEqual([]);
    }),
  (kills + 1) * LIFE_MS,
);

it("opens a file whose making was interrupted", () =>
  inFolder(async (folder) => {
    const random = new Random(testSeed("kills while the file is made"));
    for (let file = 1; file <= Math.min(kills, 50) / 2; file++) {
      const path = join(folder, `memory-${file}.db`);
      const ledger = new Ledger();
      const plan = { moment: "opening", skip: 0, delayMs: random.fraction() * 120, mood: "mixed" } as const;
      const findings = [...(await live(path, 1, ledger, random, plan)), ...(await live(path, 2, ledger, random))];
      expect(findings).toEqual([]);
    }
  }));
