/** How the tests are run: the report at the end of a failed run, and the command that runs tests with fresh seeds. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { inFolder } from "../support/folder.js";
import { root } from "../support/root.js";
import { until } from "../support/until.js";

const FAILING = `
import { describe, expect, it } from "vitest";
describe("a kettle (blue)", () => {
  it("isn't empty", () => expect(1).toBe(2));
  it("is warm", () => expect(1).toBe(1));
});
`;

describe("a red run", () => {
  it("ends with what failed, the seed, and a command that runs just that", () =>
    inFolder(async (folder) => {
      symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
      writeFileSync(join(folder, "one.test.mjs"), FAILING);
      writeFileSync(join(folder, "other.test.mjs"), FAILING.replace("toBe(2)", "toBe(1)"));
      const vitest = join(root, "node_modules/vitest/vitest.mjs");
      const reporter = `--reporter=${join(root, "test/support/failures.ts")}`;
      const own = Object.entries(process.env).filter(([name]) => !name.startsWith("HOLDFAST_TEST_"));
      const env = { ...Object.fromEntries(own), HOLDFAST_TEST_SEED: "7", HOLDFAST_TEST_KILLS: "3" };
      const run = spawnSync(process.execPath, [vitest, "run", reporter], { cwd: folder, encoding: "utf8", env });
      expect(run.status).toBe(1);
      const again = `HOLDFAST_TEST_SEED=7 HOLDFAST_TEST_KILLS=3 npx vitest run one.test.mjs -t '^(a kettle \\(blue\\) isn'\\''t empty)$'`;
      expect(run.stdout.trim().split("\n")).toEqual([
        "What failed:",
        "  one.test.mjs › a kettle (blue) > isn't empty",
        "The seed: 7",
        "Just these again:",
        `  ${again}`,
      ]);
      const just = spawnSync("sh", ["-c", `${again} --reporter=json`], { cwd: folder, encoding: "utf8" });
      expect(JSON.parse(just.stdout)).toMatchObject({ numFailedTests: 1, numPassedTests: 0 });
    }));

  it("names a file that cannot be loaded", () =>
    inFolder(async (folder) => {
      symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
      writeFileSync(join(folder, "one.test.mjs"), "throw new Error('broken')");
      const vitest = join(root, "node_modules/vitest/vitest.mjs");
      const reporter = `--reporter=${join(root, "test/support/failures.ts")}`;
      const { stdout } = spawnSync(process.execPath, [vitest, "run", reporter], { cwd: folder, encoding: "utf8" });
      expect(stdout).toContain("one.test.mjs (the file itself)");
      expect(stdout).toMatch(/npx vitest run one\.test\.mjs$/m);
    }));
});

describe("npm run test:random", () => {
  const command = join(root, "build/scripts/random.js");
  const random = (...args: string[]) => spawnSync(process.execPath, [command, ...args], { encoding: "utf8" });

  it("refuses what it does not know, and says what it knows", () => {
    for (const args of [
      ["kettle"],
      ["--minutes", "soon"],
      ["--minutes", "0"],
      ["--seed="],
      ["--seed", "-1"],
      ["--seed", "1.5"],
      ["--x"],
    ]) {
      const { status, stderr } = random(...args);
      expect([args, status]).toEqual([args, 2]);
      expect(stderr).toContain("Suites: random, model, oracle, crash, processes");
    }
    expect(execFileSync(process.execPath, [command, "--help"], { encoding: "utf8" })).toContain("--minutes N");
  });

  it("--seed runs the named tests once, with that seed", () => {
    const { status, stdout } = random("--seed", "7", "src/input/hash.test.ts");
    expect(stdout).toMatch(
      /^round 1 · seed 7 · src\/input\/hash\.test\.ts: \d+ tests passed in [\d.]+ s\nNothing failed: 1 rounds of src\/input\/hash\.test\.ts; \d+ tests passed\./,
    );
    expect(status).toBe(0);
  });

  it("that is stopped leaves nothing behind", () =>
    inFolder(async (folder) => {
      mkdirSync(join(folder, "tmp"));
      const env = { ...process.env, TMPDIR: join(folder, "tmp") };
      const stopped = spawn(process.execPath, [command, "--seed", "7", "oracle"], { env });
      const ended = once(stopped, "close");
      await until(() => readdirSync(join(folder, "tmp")).length > 0);
      stopped.kill("SIGTERM");
      await ended;
      expect(readdirSync(join(folder, "tmp")).filter((name) => name.startsWith("holdfast-"))).toEqual([]);
    }));
});
