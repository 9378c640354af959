// Prepares a fresh clone: installs the locked dependencies, then builds. Skips what is already done.
import { execSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const stamp = `${root}/node_modules/.holdfast-lock`;
const lock = createHash("sha256")
  .update(readFileSync(`${root}/package-lock.json`))
  .digest("hex");

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`Holdfast needs Node 20.19 or newer; this is ${process.version}.`);
  process.exit(1);
}
if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== lock) {
  console.log("Installing the locked dependencies…");
  execSync("npm ci --no-audit --no-fund --loglevel=error", { cwd: root, stdio: "inherit" });
  writeFileSync(stamp, lock);
}
execSync("node scripts/build.mjs", { cwd: root, stdio: "inherit" });
