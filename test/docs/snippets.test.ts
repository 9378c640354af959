/**
 * Every code block of README, docs and examples works: TypeScript is type-checked and run against the package, shell
 * commands run with the built command line, YAML is loaded as a configuration, JSON and TOML are parsed. A block that cannot
 * be run says why in a comment before it (`<!-- not run: reason -->`); this suite prints these and limits their number.
 */
import { execFile, execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { transformSync } from "esbuild";
import { parse as parseToml } from "smol-toml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { loadConfig as load } from "../../build/lib/config.js";
import { root } from "../support/root.js";
import { type Block, type Page, readPages } from "./pages.js";
import { comparing, programsOf } from "./snippets.js";

const { loadConfig } = (await import(pathToFileURL(join(root, "build/lib/config.js")).href)) as {
  readonly loadConfig: typeof load;
};

const NOT_RUN_MAX = 9;
const LANGUAGES = ["ts", "js", "sh", "yaml", "json", "toml", "text"];

const pages = readPages();
const blocks = pages.flatMap((page) => page.blocks);
const runnable = blocks.filter(({ notRun }) => notRun === undefined);
const folder = mkdtempSync(join(tmpdir(), "holdfast-docs-"));
/** Inside the project, so that `holdfast` and its dependencies are found as in any project that has installed it. */
const programFolder = join(root, "build/docs");
/** A user's environment: no option is set, and nothing is written to the real home. */
const env = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(HOLDFAST_|XDG_)/.test(name))),
  HOME: folder,
};
const run = promisify(execFile);

beforeAll(() => {
  rmSync(programFolder, { recursive: true, force: true });
  mkdirSync(programFolder, { recursive: true });
});
afterAll(() => rmSync(folder, { recursive: true }));

it("every block names its language, and few are not run", () => {
  expect(blocks.filter(({ language }) => !LANGUAGES.includes(language)).map(({ at }) => at)).toEqual([]);
  const skipped = blocks.flatMap(({ at, notRun, onlyChecked }) => {
    const why = notRun ?? onlyChecked;
    return why === undefined ? [] : [`${at}: ${why}`];
  });
  console.log(`${blocks.length} blocks; not run:\n  ${skipped.join("\n  ")}`);
  expect(skipped.length).toBeLessThanOrEqual(NOT_RUN_MAX);
});

it("TypeScript blocks and examples have no type errors", () => {
  for (const { name, code } of pages.flatMap(programsOf)) writeFileSync(join(programFolder, `${name}.ts`), code);
  const compilerOptions = {
    noEmit: true,
    allowJs: true,
    checkJs: true,
    noUnusedLocals: false,
    noUnusedParameters: false,
    noPropertyAccessFromIndexSignature: false,
    verbatimModuleSyntax: false,
    moduleDetection: "force",
    lib: ["ES2023", "ES2024.String", "DOM"],
  };
  const include = ["*.ts", "../../examples/*.mjs"];
  const config = { extends: "../../tsconfig.json", compilerOptions, include };
  writeFileSync(join(programFolder, "tsconfig.json"), JSON.stringify(config));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const { stdout } = spawnSync(process.execPath, [tsc, "-p", programFolder], { encoding: "utf8" });
  expect(stdout).toBe("");
});

it("TypeScript blocks run, and print what they say", async () => {
  const wanted = pages.flatMap(programsOf).filter(({ onlyChecked }) => !onlyChecked);
  for (const { name, code } of wanted) {
    const compared = comparing(code).replaceAll('"http://127.0.0.1:8000"', "globalThis.serverUrl");
    const compiled = transformSync(compared, { loader: "ts", format: "esm", target: "node20" });
    writeFileSync(join(programFolder, `${name}.mjs`), compiled.code);
  }
  expect(wanted.length).toBeGreaterThan(8);
  const work = join(folder, "programs");
  mkdirSync(work);
  const args = [join(root, "build/test/docs/run-programs.js"), programFolder, work];
  const { stdout } = await run(process.execPath, args, { cwd: root, env });
  expect(stdout.trim().split("\n").sort()).toEqual(wanted.map(({ name }) => `${name}.mjs`).sort());
});

describe("shell blocks", () => {
  const bin = join(folder, "bin");
  beforeAll(() => {
    mkdirSync(bin);
    const command = `#!/bin/sh\nexec "${process.execPath}" "${join(root, "dist/cli/main.js")}" "$@"\n`;
    writeFileSync(join(bin, "holdfast"), command, { mode: 0o755 });
    const memory = join(folder, "agent.db");
    execFileSync(join(bin, "holdfast"), ["add", "I moved to Lisbon in May.", "-u", "ada", "--path", memory], { env });
  });
  const withShell = pages
    .map((page) => ({ page, commands: page.blocks.filter((block) => block.language === "sh" && isRun(block)) }))
    .filter(({ commands }) => commands.length > 0);
  it.each(withShell.map(({ page, commands }) => [page.path, page, commands] as const))(
    "of %s",
    async (_, page, commands) => {
      const port = await freePort();
      const work = join(folder, page.path.replaceAll(/\W/g, "-"));
      mkdirSync(work);
      copyFileSync(join(folder, "agent.db"), join(work, "agent.db")); // commands that only read do not create it
      writeYaml(page, work);
      const code = commands.map((block) => `# ${block.at}\n${block.code}`).join("\n");
      const script = join(work, "script.sh");
      writeFileSync(script, `${SHELL}\n${code.replaceAll("127.0.0.1:8000", `127.0.0.1:${port}`)}`);
      const PATH = `${bin}:${process.env["PATH"]}`;
      await run("bash", [script], { cwd: work, env: { ...env, HOME: work, PATH, DOCS_PORT: String(port) } });
    },
  );
});

/** Stops at the first failure; runs servers in the background, on the port of this test, until the script ends. */
const SHELL = `set -euo pipefail
exec </dev/null
server=
trap '[ -z "$server" ] || { kill "$server"; wait "$server" || true; }' EXIT
npx() { "$@"; }
holdfast() {
  if [ "$1" != serve ]; then command holdfast "$@"; return; fi
  [ -z "$server" ] || { kill "$server"; wait "$server" || true; }
  command holdfast "$@" --port "$DOCS_PORT" >server.log 2>&1 &
  server=$!
  until grep -q "http://" server.log; do kill -0 "$server"; sleep 0.05; done
}`;

/** Where there is no curl, the blocks that use it are left out. */
const hasCurl = spawnSync("curl", ["--version"]).status === 0;
const isRun = ({ notRun, code }: Block): boolean => notRun === undefined && (hasCurl || !code.includes("curl "));

it("YAML blocks are configurations", () => {
  const yaml = runnable.filter(({ language }) => language === "yaml");
  for (const [index, { code, at }] of yaml.entries()) {
    const file = join(folder, `config-${index}.yaml`);
    writeFileSync(file, code);
    expect(() => loadConfig({ file, code: { path: "agent.db" } }), at).not.toThrow();
  }
  expect(yaml.length).toBeGreaterThan(1);
});

it("JSON and TOML blocks can be parsed", () => {
  for (const { language, code, at } of runnable) {
    if (language === "json") expect(() => JSON.parse(code), at).not.toThrow();
    if (language === "toml") expect(() => parseToml(code), at).not.toThrow();
  }
});

describe("examples", () => {
  const examples = readdirSync(join(root, "examples")).filter((name) => name.endsWith(".mjs"));
  it.each(examples)("%s runs and prints something", (name) => {
    const work = join(folder, "examples", name);
    mkdirSync(work, { recursive: true });
    const printed = execFileSync(process.execPath, [join(root, "examples", name)], {
      cwd: work,
      env,
      encoding: "utf8",
    });
    expect(printed).not.toBe("");
  });
  it("are all in examples/README.md", () => {
    const page = pages.find(({ path }) => path === "examples/README.md");
    expect(examples.length).toBeGreaterThanOrEqual(3);
    for (const name of examples) expect(page?.text).toContain(`(${name})`);
  });
});

/** A page's YAML becomes the `holdfast.yaml` that its commands name. */
function writeYaml(page: Page, work: string): void {
  const yaml = page.blocks.find(({ language }) => language === "yaml");
  if (yaml) writeFileSync(join(work, "holdfast.yaml"), yaml.code);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().on("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      if (address === null || typeof address === "string") return reject(new Error("no port"));
      probe.close(() => resolve(address.port));
    });
  });
}
