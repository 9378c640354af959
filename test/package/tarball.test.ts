/**
 * The packed package in an empty folder runs the README's ten lines and embeds, with its native runtime and without it (not
 * every machine can load it). A buffer store works alone.
 *
 * The tarball is unpacked there and exactly the packages that it depends on are linked, in their locked versions, so that the
 * network and the newest versions of the day decide nothing. `npm run test:newcomer` has npm install it, as it does for a user.
 */
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { linksOf, readPages } from "../docs/pages.js";
import { root } from "../support/root.js";

const QUIET = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
}

/** The packed package.json. */
interface Described {
  readonly bin: { readonly [name: string]: string };
  readonly dependencies: { readonly [name: string]: string };
}

/** The first TypeScript block of the README. */
function tenLines(): string {
  const block = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(root, "README.md"), "utf8"));
  return block?.[1] ?? "";
}

/** The same, asking again while an answer is partial: a slow machine embeds late, and reports it. */
function patient(code: string): string {
  const asked = code.replace(
    /^const hits = (await session\.query\(.*\));$/m,
    "let hits; do hits = $1; while (hits.partial);",
  );
  expect(asked).not.toBe(code);
  return asked;
}

function npm(args: readonly string[], cwd: string): string {
  return execFileSync("npm", args, { cwd, encoding: "utf8", timeout: 300_000 });
}

/** Unpacks the tarball into the folder, and links what it depends on. */
function unpack(folder: string, tarball: string): void {
  const modules = join(folder, "node_modules");
  const unpacked = join(modules, "holdfast");
  mkdirSync(join(modules, ".bin"), { recursive: true });
  mkdirSync(unpacked);
  execFileSync("tar", ["-xzf", tarball, "-C", unpacked, "--strip-components=1"]);
  const described = JSON.parse(readFileSync(join(unpacked, "package.json"), "utf8")) as Described;
  for (const name of Object.keys(described.dependencies)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(root, "node_modules", name), join(modules, name));
  }
  for (const [name, path] of Object.entries(described.bin)) {
    chmodSync(join(unpacked, path), 0o755);
    symlinkSync(join("..", "holdfast", path), join(modules, ".bin", name));
  }
}

/** Embeds one text, and prints the runtime; or prints the error and its hint. */
const EMBED = `
import { MiniLmEmbedder } from "holdfast/embedding";
const embedder = new MiniLmEmbedder();
try {
  const [vector] = await embedder.embed(["I moved to Lisbon in May."]);
  console.log((await embedder.describe()).loaded, vector.length);
} catch (error) {
  console.log(error.code, error.hint);
}
await embedder.close();
`;

/** A buffer store alone, by its own subpath: pushes, leases and acknowledges one entry; prints the number. */
const BUFFER = `
import { SqliteBufferStore } from "holdfast/buffer-store";
const store = new SqliteBufferStore<{ readonly n: number }>("buffer.db");
store.push({ n: 1 }, "monday", "key");
const leased = store.lease();
console.log(leased.map(({ payload }) => payload.n), store.acknowledge(leased), store.count());
store.close();
`;

/** What the command line, the server and `stats()` say once where there is no native runtime. */
const ADVICE = /six to nine times slower than native code; install .*: npm install onnxruntime-node@[\d.]+/g;

/** A server that embeds; prints its statistics. */
const ADVISED = `
import { serve } from "holdfast/server";
import { connect } from "holdfast/client";
const server = await serve({ path: ":memory:", server: { port: 0 } });
const memory = connect(server.url);
await memory.session({ user: "ada" }).add([{ role: "user", content: "I moved to Lisbon in May." }]);
await memory.flush();
const { meaning } = await memory.stats();
console.log(meaning.embedder.advice);
await server.stop();
`;

/** What the examples of doc comments use. */
const AROUND_EXAMPLES = `
import { HoldfastError, openMemory, renderAnthropic, type Memory, type NewMessage, type Session } from "holdfast";
import { connect } from "holdfast/client";
import { serve } from "holdfast/server";
declare const memory: Memory, session: Session, messages: NewMessage[], question: string, key: string, oldId: string;
`;

/** A user's environment, without the variables that keep the model out of other tests. */
const userEnv = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("HOLDFAST_")));

/** The check for the ten lines: the first hit is what was added, found by meaning. */
const FOUND = /^I moved to Lisbon in May\. true\n/;

describe("the package", () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-package-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  let packed: Packed;
  beforeAll(() => {
    [packed] = JSON.parse(npm(["pack", "--json", ...QUIET, "--pack-destination", folder], root)) as [Packed];
    writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
    unpack(folder, join(folder, packed.filename));
  });

  function outputOf(name: string, code: string): string {
    writeFileSync(join(folder, name), code);
    return execFileSync(process.execPath, [name], {
      cwd: folder,
      encoding: "utf8",
      timeout: 300_000,
      env: userEnv,
    }).trim();
  }

  it("contains the compiled library, its model and its documents, and nothing else", () => {
    const paths = packed.files.map(({ path }) => path);
    expect(paths).toEqual(
      expect.arrayContaining(["dist/index.js", "dist/index.d.ts", "LICENSE", "README.md", "package.json"]),
    );
    const parts = paths.filter((path) => path.startsWith("dist/parts/") && !/\/(prebuilds|bin)\//.test(path));
    expect(parts.sort()).toEqual([
      "dist/parts/native/dist/index.cjs",
      "dist/parts/onnx/index.cjs",
      "dist/parts/onnx/ort-wasm-simd-threaded.mjs",
      "dist/parts/onnx/ort-wasm-simd-threaded.wasm",
      "dist/parts/sqlite/dist/index.cjs",
      "dist/parts/tokens/cl100k_base.cjs",
      "dist/parts/tokens/o200k_base.cjs",
    ]);
    expect(paths.filter((path) => path.startsWith("config/"))).toEqual(["config/buffer/default.yaml"]);
    expect(paths.filter((path) => path.startsWith("models/")).sort()).toEqual([
      "models/README.md",
      "models/all-MiniLM-L6-v2-q8/LICENSE",
      "models/all-MiniLM-L6-v2-q8/config.json",
      "models/all-MiniLM-L6-v2-q8/onnx/model_quantized.onnx",
      "models/all-MiniLM-L6-v2-q8/tokenizer.json",
      "models/all-MiniLM-L6-v2-q8/tokenizer_config.json",
    ]);
    expect(paths.filter((path) => /\.test\.|^(src|test|bench|build|scripts)\//.test(path))).toEqual([]);
    // The model and the SQLite driver and native runtime of each platform are most of it.
    expect(packed.size).toBeLessThan(80_000_000);
    const pages = readPages().filter(({ path }) => paths.includes(path));
    const files = pages.flatMap(linksOf).map(({ file }) => file);
    expect(files.filter((file) => !paths.includes(file) && !paths.some((path) => path.startsWith(`${file}/`)))).toEqual(
      [],
    );
    expect(files.length).toBeGreaterThan(80);
  });

  it("embeds and runs the README's ten lines in an empty folder", () => {
    expect(outputOf("embed.js", EMBED)).toBe("node 384");
    expect(outputOf("ten.js", patient(tenLines()))).toMatch(FOUND);
  });

  it.each([
    { format: "esm", bundler: "esbuild", define: {} },
    { format: "cjs", bundler: "esbuild", define: {} },
    // webpack writes where the code was when it was bundled.
    { format: "esm", bundler: "webpack", define: { "import.meta.url": '"file:///built/elsewhere/index.js"' } },
  ] as const)(
    "runs them bundled into one $format file as by $bundler, with its files in a folder beside",
    async ({ format, define }) => {
      const lines = patient(tenLines()).split("\n");
      const code = lines.map((line) => (line.startsWith("import") ? line : `  ${line}`)).join("\n");
      writeFileSync(
        join(folder, "main.ts"),
        `${code.replace(/^(import .*)$/m, "$1\nasync function main() {")}}\nvoid main();\n`,
      );
      const alone = mkdtempSync(join(tmpdir(), "holdfast-bundled-"));
      onTestFinished(() => rmSync(alone, { recursive: true }));
      const outfile = join(alone, format === "esm" ? "app.mjs" : "app.cjs");
      const { warnings } = await build({
        entryPoints: [join(folder, "main.ts")],
        bundle: true,
        platform: "node",
        format,
        outfile,
        define,
        logLevel: "silent",
        logOverride: { "empty-import-meta": "silent" },
      });
      expect(warnings).toEqual([]);
      const run = () => spawnSync(process.execPath, [outfile], { cwd: alone, encoding: "utf8", env: userEnv });
      mkdirSync(join(alone, "holdfast/dist"), { recursive: true });
      for (const path of ["package.json", "models", "dist/parts"])
        symlinkSync(join(folder, "node_modules/holdfast", path), join(alone, "holdfast", path));
      const { stdout, stderr } = run();
      expect(stderr).toBe("");
      expect(stdout).toMatch(FOUND);
    },
  );

  it("printed all of its code with an uncaught error", () => {
    writeFileSync(
      join(folder, "wrong.js"),
      'import { openMemory } from "holdfast"; await openMemory({ pth: "x.db" });',
    );
    const { stderr } = spawnSync(process.execPath, ["wrong.js"], { cwd: folder, encoding: "utf8", env: userEnv });
    expect(stderr).toContain("options in code: unknown key pth; did you mean path?");
    expect(stderr.length).toBeLessThan(3_000);
  });

  it("has no imported createRequire, whose calls webpack resolves when it bundles", () => {
    const dist = join(folder, "node_modules/holdfast/dist");
    const chunks = readdirSync(dist).filter((name) => name.endsWith(".js"));
    const requiring = chunks.filter((name) =>
      /import\{[^}]*\bcreateRequire\b/.test(readFileSync(join(dist, name), "utf8")),
    );
    expect(requiring).toEqual([]);
  });

  it("embeds and runs them even without the native runtime, and reports if there is no runtime", () => {
    const parts = join(folder, "node_modules/holdfast/dist/parts");
    rmSync(join(parts, "native"), { recursive: true });
    expect(outputOf("embed.js", EMBED)).toBe("web 384");
    for (const file of readdirSync(folder)) if (file.startsWith("agent.db")) rmSync(join(folder, file));
    expect(outputOf("ten.js", patient(tenLines()))).toMatch(FOUND);
    const query = ["node_modules/.bin/holdfast", "query", "where?", "--user", "ada", "--path", "agent.db"];
    const { stderr } = spawnSync(process.execPath, query, { cwd: folder, encoding: "utf8", env: userEnv });
    expect(stderr.match(ADVICE)).toHaveLength(1);
    writeFileSync(join(folder, "advised.js"), ADVISED);
    const advised = spawnSync(process.execPath, ["advised.js"], { cwd: folder, encoding: "utf8", env: userEnv });
    expect(advised.stdout.match(ADVICE)).toHaveLength(1);
    expect(advised.stderr.match(ADVICE)).toHaveLength(1);
    rmSync(join(parts, "onnx"), { recursive: true });
    expect(outputOf("embed.js", EMBED)).toBe("embedder_failed run: npm install onnxruntime-node");
    expect(outputOf("buffer.js", BUFFER.replace(/<.*>/, ""))).toBe("[ 1 ] 1 0");
  });

  it("has examples in its doc comments that are strict TypeScript", () => {
    const dist = join(folder, "node_modules/holdfast/dist");
    const declarations = readdirSync(dist, { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith(".d.ts"),
    );
    const examples = declarations.flatMap((name) =>
      [...readFileSync(join(dist, name), "utf8").matchAll(/@example\n((?: +\* .*\n)+)/g)].map(([, text = ""]) => text),
    );
    expect(examples.length).toBeGreaterThanOrEqual(10);
    const bodies = examples.map((text) => `async () => {\n${text.replace(/^ +\* /gm, "")}}`);
    writeFileSync(join(folder, "examples.ts"), `${AROUND_EXAMPLES}export const examples = [${bodies.join(",\n")}];\n`);
    expectTypes("examples.ts");
  });

  function expectTypes(...files: readonly string[]): void {
    const options = {
      target: "ES2023",
      module: "NodeNext",
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      types: [],
    };
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions: { ...options, lib: ["ES2023", "DOM"] }, files }),
    );
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const { stdout } = spawnSync(process.execPath, [tsc, "-p", folder], { encoding: "utf8" });
    expect(stdout).toBe("");
  }

  it("has the README's ten lines and a buffer store as strict TypeScript, against the packed declarations", () => {
    const code = tenLines();
    const lines = code.split("\n").filter((line) => line.trim() !== "");
    expect(lines.length).toBeGreaterThanOrEqual(8);
    expect(lines.length).toBeLessThanOrEqual(12);
    writeFileSync(join(folder, "ten.ts"), code);
    writeFileSync(join(folder, "buffer.ts"), BUFFER);
    expectTypes("ten.ts", "buffer.ts");
  });
});
