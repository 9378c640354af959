/** The release script, on a copy of this repository, without the network. */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { root } from "../support/root.js";

const folder = mkdtempSync(join(tmpdir(), "holdfast-release-"));
const repository = join(folder, "repository");
/** npm cannot reach any registry, and git takes nothing from the machine's settings. */
const env = {
  ...process.env,
  npm_config_registry: "http://127.0.0.1:9",
  npm_config_fetch_retries: "0",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_SYSTEM: "/dev/null",
  GIT_AUTHOR_NAME: "A",
  GIT_AUTHOR_EMAIL: "a@example.com",
  GIT_COMMITTER_NAME: "A",
  GIT_COMMITTER_EMAIL: "a@example.com",
};
const git = (...args: string[]): string => execFileSync("git", args, { cwd: repository, env, encoding: "utf8" }).trim();
const release = (...args: string[]): { readonly status: number | null; readonly stdout: string; stderr: string } =>
  spawnSync(process.execPath, ["scripts/release.mjs", ...args], { cwd: repository, env, encoding: "utf8" });
const versionIn = (file: string): string =>
  (JSON.parse(readFileSync(join(repository, file), "utf8")) as { readonly version: string }).version;

beforeAll(() => {
  // What is built is copied, too: the script packs it. The model's weights and binaries are not: they take most of the time.
  const tracked = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" }).split("\0").filter(Boolean);
  for (const path of [...tracked, "dist"]) {
    if (!existsSync(join(root, path)) || path.endsWith(".onnx")) continue;
    mkdirSync(dirname(join(repository, path)), { recursive: true });
    cpSync(join(root, path), join(repository, path), {
      recursive: true,
      filter: (from) => from !== join(root, "dist/parts"),
    });
  }
  git("init", "--quiet");
  git("add", "--all");
  git("commit", "--quiet", "--message", "everything");
});
afterAll(() => rmSync(folder, { recursive: true }));

it("a dry run goes through every step and changes nothing", () => {
  const { status, stdout, stderr } = release("minor", "--dry-run");
  expect(`${status} ${stderr}`).toBe("0 ");
  expect(stdout).toMatch(/^holdfast-\d+\.\d+\.0\.tgz: \d+ files, [\d.]+ MB$/m);
  expect(stdout).toMatch(/can be released; nothing was changed$/m);
  expect(git("status", "--porcelain")).toBe("");
  expect(git("tag")).toBe("");
});

it("refuses what is not a later version, unknown flags, and uncommitted changes", () => {
  expect(release("0.0.1").stderr).toContain("is lower than the present version");
  expect(release("latest").stderr).toContain("not a version");
  expect(release("patch", "--dry").stderr).toContain("usage:");
  expect(release().stderr).toContain("usage:");
  writeFileSync(join(repository, "new.txt"), "");
  expect(release("patch").stderr).toContain("commit or remove your changes first");
  rmSync(join(repository, "new.txt"));
});

it("sets the version, dates the changelog, packs, commits, tags, and leaves publishing to a person", () => {
  const { status, stdout, stderr } = release("9.1.0");
  expect(`${status} ${stderr}`).toBe("0 ");
  expect([versionIn("package.json"), versionIn("package-lock.json")]).toEqual(["9.1.0", "9.1.0"]);
  const changelog = readFileSync(join(repository, "CHANGELOG.md"), "utf8");
  expect(changelog).toMatch(/^## \[Unreleased\]\n\n## \[9\.1\.0\] - \d{4}-\d\d-\d\d\n/m);
  expect(git("log", "-1", "--format=%s")).toBe("release: 9.1.0");
  expect(git("describe", "--exact-match")).toBe("v9.1.0");
  expect(git("status", "--porcelain")).toBe("");
  expect(existsSync(join(repository, "holdfast-9.1.0.tgz"))).toBe(true);
  expect(stdout).toContain("npm publish ./holdfast-9.1.0.tgz");
  expect(release("9.1.0").stderr).toContain("has been released");
  expect(release("9.2.0").stderr).toContain("nothing under [Unreleased]");
});
