// Prepares a release: `npm run release -- <version | major | minor | patch> [--dry-run]`.
// Sets the version, dates the changelog, packs, checks the package with a publish that is not carried out, commits and tags.
// It neither pushes nor publishes: it prints the two commands that do. With --dry-run all of it happens in a temporary clone.
// The package must have been built, which `npm run release` does first.
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const [wanted, ...flags] = process.argv
  .slice(2)
  .sort((one, other) => Number(one[0] === "-") - Number(other[0] === "-"));
const isDry = flags.includes("--dry-run");
if (wanted === undefined || wanted.startsWith("-") || flags.some((flag) => flag !== "--dry-run")) {
  fail("usage: npm run release -- <version | major | minor | patch> [--dry-run]");
}
if (run("git", ["status", "--porcelain"], root) !== "")
  fail("commit or remove your changes first: git status lists them");

if (isDry) {
  const clone = mkdtempSync(join(tmpdir(), "holdfast-release-"));
  run("git", ["clone", "--quiet", root, clone], root);
  cpSync(join(root, "dist"), join(clone, "dist"), { recursive: true });
  try {
    release(clone);
  } finally {
    rmSync(clone, { recursive: true });
  }
} else release(root);

function release(folder) {
  const { name, version: current } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const version = next(current);
  const changelog = join(folder, "CHANGELOG.md");
  writeFileSync(changelog, dated(readFileSync(changelog, "utf8"), version));
  if (version !== current) npm(["version", version, "--no-git-tag-version"], folder);

  const [packed] = JSON.parse(npm(["pack", "--json"], folder));
  const size = (packed.size / 1e6).toFixed(1);
  console.log(`${packed.filename}: ${packed.files.length} files, ${size} MB`);
  // Offline: a publish that is not carried out must not depend on the registry, and needs no login.
  npm(["publish", "--dry-run", "--offline", `./${packed.filename}`], folder);

  run("git", ["commit", "--quiet", "--all", "--message", `release: ${version}`], folder);
  run("git", ["tag", "--annotate", `v${version}`, "--message", `${name} ${version}`], folder);
  if (isDry) console.log(`${name} ${version} can be released; nothing was changed`);
  else console.log(`Committed and tagged. To publish:\n  git push --follow-tags\n  npm publish ./${packed.filename}`);
}

/** The version to release: as given, or the next one. The version of package.json may be released if it has no tag yet. */
function next(current) {
  const numbers = current.split("-")[0].split(".").map(Number);
  const place = ["major", "minor", "patch"].indexOf(wanted);
  const version =
    place < 0 ? wanted : numbers.map((number, at) => (at < place ? number : at === place ? number + 1 : 0)).join(".");
  if (!/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version)) fail(`not a version: ${version}`);
  const given = version.split("-")[0].split(".").map(Number);
  const at = given.findIndex((number, index) => number !== numbers[index]);
  if (at >= 0 && given[at] < numbers[at]) fail(`${version} is lower than the present version ${current}`);
  if (run("git", ["tag", "--list", `v${version}`], root) !== "") fail(`${version} has been released: it has a tag`);
  return version;
}

/** The changelog with the unreleased changes under this version and today's date. */
function dated(text, version) {
  const [, changes = ""] = /^## \[Unreleased\]\n([\s\S]*?)(?=^## |(?![\s\S]))/m.exec(text) ?? [];
  if (changes.trim() === "") fail("CHANGELOG.md has nothing under [Unreleased]");
  const today = new Date().toISOString().slice(0, 10);
  return text.replace("## [Unreleased]\n", `## [Unreleased]\n\n## [${version}] - ${today}\n`);
}

function npm(args, cwd) {
  return run("npm", [...args, "--ignore-scripts", "--loglevel=error"], cwd);
}

function run(command, args, cwd) {
  return execFileSync(command, args, {
    cwd,
    encoding: "utf8",
    maxBuffer: 1e8,
    stdio: ["ignore", "pipe", "inherit"],
  }).trim();
}

function fail(message) {
  console.error(`release: ${message}`);
  process.exit(1);
}
