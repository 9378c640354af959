/**
 * Runs the suites that leave something to chance, each round with a fresh seed, until the time is up or a test fails:
 *
 *   npm run test:random -- [--minutes 20] [--seed N] [suite…]
 *
 * With --seed one round runs, with that seed: what a failure prints to be replayed.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = fileURLToPath(new URL("../..", import.meta.url));

interface Suite {
  readonly files: readonly string[];
  /** More of the same than in `npm test`. */
  readonly env: { readonly [name: string]: string };
}

const SUITES: { readonly [name: string]: Suite } = {
  random: { files: withProperties("src"), env: {} },
  model: {
    files: [
      ...withProperties("test").filter((file) => !/oracle|crash|processes/.test(file)),
      "build/test/sqlite/conformance.test.js",
    ],
    env: { HOLDFAST_TEST_REINDEX_RUNS: "24" },
  },
  oracle: { files: ["build/test/oracle"], env: { HOLDFAST_TEST_ORACLE_RUNS: "24" } },
  crash: {
    files: ["build/test/crash", "build/test/compat/buffer-store", "build/test/damage", "build/test/transfer"],
    env: { HOLDFAST_TEST_KILLS: "14" },
  },
  processes: {
    files: [
      "build/test/processes",
      "build/test/blocks/processes.test.js",
      "build/test/context/ledger.test.js",
      "build/test/compat/agent-teams/processes.test.js",
      "build/test/compat/knowledge-graph/graph.test.js",
      "build/test/mcp/processes.test.js",
      "build/test/mcp/processes-ending.test.js",
    ],
    env: {},
  },
};

const USAGE = `npm run test:random -- [--minutes 20] [--seed N] [suite…]

Runs tests with fresh seeds until the time is up or one fails.

Suites: ${Object.keys(SUITES).join(", ")} (all of them, if none is named); or a file or folder of tests
in src/ or build/test/
  --minutes N   how long; the round that is under way then is finished (20)
  --seed N      one round with this seed: replays a failure`;

/** The files below a folder that check a property of random input, as vitest is to be told of them. */
function withProperties(folder: "src" | "test"): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".test.ts"))
    .filter((name) => /\bfc\.assert\b|\btestSeed\(/.test(readFileSync(join(root, folder, name), "utf8")))
    .map((name) => (folder === "src" ? `src/${name}` : `build/test/${name.replace(/\.ts$/, ".js")}`))
    .sort();
}

function fail(message: string): never {
  console.error(`${message}\n\n${USAGE}`);
  process.exit(2);
}

function options(): { readonly minutes: number; readonly seed: number | undefined; readonly names: readonly string[] } {
  try {
    const { values, positionals } = parseArgs({
      options: { minutes: { type: "string" }, seed: { type: "string" }, help: { type: "boolean", short: "h" } },
      allowPositionals: true,
    });
    if (values.help) {
      console.log(USAGE);
      process.exit(0);
    }
    const minutes = Number(values.minutes ?? 20);
    if (!(minutes > 0)) fail(`--minutes is not a number over 0: ${values.minutes}`);
    const seed = values.seed === undefined ? undefined : Number(values.seed);
    if (seed !== undefined && !(/^\d+$/.test(String(values.seed)) && seed < 2 ** 31)) {
      fail(`--seed is not a whole number from 0 below 2^31: ${values.seed}`);
    }
    for (const name of positionals) suiteOf(name);
    return { minutes, seed, names: positionals.length > 0 ? positionals : Object.keys(SUITES) };
  } catch (error) {
    return fail((error as Error).message);
  }
}

function suiteOf(name: string): Suite {
  if (Object.hasOwn(SUITES, name)) return SUITES[name] as Suite;
  if (/^(src|build\/test)\/./.test(name) && existsSync(join(root, name))) return { files: [name], env: {} };
  return fail(`There is no suite ${name}.`);
}

interface Result {
  readonly passed: number;
  readonly isGreen: boolean;
  readonly output: string;
}

let running: ChildProcess | undefined;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    if (!running?.kill(signal)) process.exit(1);
    running.once("close", () => process.exit(1));
  });
}
// After the handlers: a signal that ends the process at once would leave the folder behind.
const folder = mkdtempSync(join(tmpdir(), "holdfast-random-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

async function run({ files, env }: Suite, seed: number): Promise<Result> {
  const results = join(folder, "results.json");
  rmSync(results, { force: true });
  const reporters = ["default", "json", "./test/support/failures.ts"].map((name) => `--reporter=${name}`);
  const args = ["node_modules/vitest/vitest.mjs", "run", ...reporters, `--outputFile.json=${results}`, ...files];
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, ...env, HOLDFAST_TEST_SEED: String(seed) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running = child;
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  let passed = 0;
  try {
    passed = (JSON.parse(readFileSync(results, "utf8")) as { readonly numPassedTests: number }).numPassedTests;
  } catch {
    // vitest did not come to its end; its output tells why
  }
  return { passed, isGreen: code === 0 && passed > 0, output };
}

const { minutes, seed: given, names } = options();
const until = performance.now() + minutes * 60_000;
let rounds = 0;
let passed = 0;
do {
  const seed = given ?? randomInt(2 ** 31);
  for (const name of names) {
    const started = performance.now();
    const result = await run(suiteOf(name), seed);
    passed += result.passed;
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    if (!result.isGreen) {
      console.log(result.output);
      console.log(`${name} failed with seed ${seed}, after ${passed} tests that passed in ${rounds} whole rounds.`);
      console.log(`Replay it: npm run test:random -- --seed ${seed} ${name}`);
      process.exit(1);
    }
    const left =
      given === undefined ? ` · ${Math.max(0, (until - performance.now()) / 60_000).toFixed(1)} min left` : "";
    console.log(`round ${rounds + 1} · seed ${seed} · ${name}: ${result.passed} tests passed in ${seconds} s${left}`);
  }
  rounds++;
} while (given === undefined && performance.now() < until);
console.log(`Nothing failed: ${rounds} rounds of ${names.join(", ")}; ${passed} tests passed.`);
