/**
 * Runs tests on Node 24, which has SQLite built in; on Node 20 the driver is part of the package.
 *
 * With --smoke only what can differ there runs: the driver, files, threads, processes, and one way through the whole.
 * With --install nothing runs.
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { runtimeOf } from "./runtimes.js";

const { values } = parseArgs({ options: { smoke: { type: "boolean" }, install: { type: "boolean" } } });

const root = fileURLToPath(new URL("../..", import.meta.url));

const SMOKE = [
  "build/test/sqlite/conformance.test.js",
  "build/test/sqlite/file.test.js",
  "build/test/sqlite/threads.test.js",
  "build/test/crash/crash.test.js",
  "build/test/crash/log-damage.test.js",
  "build/test/processes/open.test.js",
  "build/test/service/disk-full.test.js",
  "build/test/service/thread-death.test.js",
  "build/test/upkeep/backup.test.js",
  "build/test/compat/buffer-store",
  "build/test/meaning/ten-lines.test.js",
  "build/test/mcp/stdio.test.js",
];

const WHOLE = [
  "src/stores",
  "build/test/sqlite",
  "build/test/service",
  "build/test/crash",
  "build/test/processes",
  "build/test/meaning",
  "build/test/blocks",
  "build/test/facts",
  "build/test/context",
  "build/test/conversation",
  "build/test/oracle",
  "build/test/upkeep",
  "build/test/reindexing",
  "build/test/transfer",
  "build/test/session",
  "build/test/mcp",
  "build/test/compat/buffer-store",
  "build/test/compat/knowledge-graph",
];

const binary = runtimeOf("24");
const version = execFileSync(binary, ["--version"], { encoding: "utf8" }).trim();
if (values.install) {
  console.log(`Node ${version} is installed.`);
} else {
  const suites = values.smoke ? SMOKE : WHOLE;
  for (const suite of suites) {
    if (!existsSync(join(root, suite))) throw new Error(`${suite} is listed to be tested, and does not exist`);
  }
  console.log(`Testing on Node ${version}.`);
  const env = values.smoke ? { ...process.env, HOLDFAST_TEST_KILLS: "3" } : process.env;
  try {
    execFileSync(binary, ["node_modules/vitest/vitest.mjs", "run", ...suites], { cwd: root, stdio: "inherit", env });
  } catch {
    process.exit(1); // vitest has printed what failed
  }
}
