// Prepares a fresh clone: installs the locked dependencies, then builds. Skips what is already done.
import { execSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`Holdfast needs Node 20.19 or newer; this is ${process.version}.`);
  process.exit(1);
}
unlessDone("node_modules/.holdfast-lock", ["package-lock.json"], () => {
  console.log("Installing the locked dependencies…");
  execSync("npm ci --no-audit --no-fund --loglevel=error", { cwd: root, stdio: "inherit" });
});
const sources = ["src", "ui", "test", "bench", "scripts"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length)),
);
const settings = ["package-lock.json", "package.json", "tsconfig.json", "tsconfig.src.json", "tsconfig.build.json"];
unlessDone("build/.sources", [...sources.sort(), ...settings], () => {
  execSync("node scripts/build.mjs", { cwd: root, stdio: "inherit" });
});

/** Runs `work` unless the stamp, which it leaves, is of the same files with the same content. */
function unlessDone(stamp, files, work) {
  const hash = createHash("sha256");
  for (const file of files)
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update("\0");
  const digest = hash.digest("hex");
  const path = join(root, stamp);
  if (existsSync(path) && readFileSync(path, "utf8") === digest) return;
  work();
  writeFileSync(path, digest);
}
