// Bundles src/ into dist/: one file per entry point of the package, chunks that they share, and dist/parts with what is loaded by
// path: the SQLite driver of Node 20, the WebAssembly runtime and the vocabularies. What this leaves to the user's node_modules is
// in package.json. Licences of bundled packages are collected in dist/NOTICES.txt.
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const modules = join(root, "node_modules");
const dist = join(root, "dist");
const parts = join(dist, "parts");

const ENTRIES = [
  "index",
  "stores/index",
  "embedding/index",
  "stores/qdrant/index",
  "compat/buffer-store/index",
  "client/index",
  "compat/anthropic/index",
  "server/index",
  "testing/index",
  "cli/main",
];

/** What is loaded from a file in dist/parts, when it is needed, and the module that the file is made of. */
const PARTS = {
  "@photostructure/sqlite": { file: "sqlite/dist/index.cjs", from: "@photostructure/sqlite/dist/index.cjs" },
  "onnxruntime-node": { file: "native/dist/index.cjs", from: "onnxruntime-node/dist/index.js" },
  "onnxruntime-web": { file: "onnx/index.cjs", from: "onnxruntime-web/dist/ort.node.min.js" },
  "gpt-tokenizer/encoding/o200k_base": {
    file: "tokens/o200k_base.cjs",
    from: "gpt-tokenizer/cjs/encoding/o200k_base.js",
  },
  "gpt-tokenizer/encoding/cl100k_base": {
    file: "tokens/cl100k_base.cjs",
    from: "gpt-tokenizer/cjs/encoding/cl100k_base.js",
  },
};

/** The platforms with a native runtime in the package. Others run WebAssembly. */
const NATIVE = ["linux/x64", "linux/arm64", "darwin/arm64", "win32/x64"];
const native = join(modules, "onnxruntime-node/bin/napi-v6");
/** Loaded for graphics cards only. */
const DIRECT_X = /(DirectML|dxcompiler|dxil)\.dll$/;

const { dependencies, peerDependencies, optionalDependencies } = JSON.parse(
  readFileSync(join(root, "package.json"), "utf8"),
);
const external = Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies });

/** With an error that nobody caught Node prints the line that threw it, however long it is. */
const LINE_MAX = 120;

const COMMON = {
  bundle: true,
  platform: "node",
  mainFields: ["module", "main"],
  target: "node20",
  minifySyntax: true,
  minifyWhitespace: true,
  lineLimit: LINE_MAX,
  legalComments: "none",
  logLevel: "warning",
  metafile: true,
};

const inputs = new Set();

export async function bundle() {
  const { metafile } = await bundled({
    entryPoints: Object.fromEntries(ENTRIES.map((name) => [name, join(root, "src", `${name}.ts`)])),
    outdir: dist,
    format: "esm",
    splitting: true,
    chunkNames: "chunk-[hash]",
    sourcemap: true,
    sourcesContent: false,
    external,
    plugins: [builtins, packageParts, looseRequires, threads],
  });
  dropHelperImports(metafile);
  await bundleParts();
  writeFileSync(join(dist, "NOTICES.txt"), notices());
}

async function bundled(options) {
  const result = await build({ ...COMMON, absWorkingDir: root, ...options });
  for (const input of Object.keys(result.metafile.inputs)) inputs.add(input);
  return result;
}

/** Required by a package in CommonJS. A `require` of its own would need a place, which a bundle of this bundle does not have. */
const builtins = {
  name: "builtins",
  setup({ onResolve, onLoad }) {
    const names = new RegExp(`^(node:)?(${builtinModules.join("|")})$`);
    onResolve({ filter: names }, ({ path, kind }) =>
      kind === "require-call" ? { path: path.replace(/^(node:)?/, "node:"), namespace: "builtin" } : undefined,
    );
    onLoad({ filter: /.*/, namespace: "builtin" }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
  },
};

/** Where a package is a part, it is loaded when it is needed. */
const packageParts = {
  name: "parts",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[@a-z]/ }, ({ path }) => (path in PARTS ? { path, namespace: "part" } : undefined));
    onLoad({ filter: /.*/, namespace: "part" }, ({ path }) => ({
      contents: `
        const { requirePart } = require("./src/package-files.ts");
        module.exports = requirePart(${JSON.stringify(PARTS[path].file)}, ${JSON.stringify(path)});`,
      resolveDir: root,
    }));
  },
};

/** The native module is loaded from its place at run time. */
const nativeRequire = {
  name: "native",
  setup({ onLoad }) {
    onLoad({ filter: /onnxruntime-node[/\\]dist[/\\]binding\.js$/ }, ({ path }) => ({
      contents: replaced(path, "require(`../bin/", 'require("node:module").createRequire(__filename)(`../bin/'),
    }));
  },
};

/** A module that makes its own `require` has what it requires in the bundle. */
const looseRequires = {
  name: "requires",
  setup({ onLoad }) {
    onLoad({ filter: /\/src\/(config|retrieval\/question\/parsers)\.ts$/ }, ({ path }) => ({
      contents: replaced(path, "const require = createRequire(import.meta.url);\n", ""),
      loader: "ts",
    }));
  },
};

/** A thread's code is a string in the module that starts it. */
const threads = {
  name: "threads",
  setup({ onResolve, onLoad }) {
    onLoad({ filter: /\/(thread|job)\.ts$/ }, ({ path }) => {
      const contents = replaced(path, 'new URL("./worker.js", import.meta.url)', "threadCode");
      return { contents: `import threadCode from "thread:./worker.ts";\n${contents}`, loader: "ts" };
    });
    onResolve({ filter: /^thread:/ }, ({ path, importer }) => ({
      path: resolve(dirname(importer), path.slice("thread:".length)),
      namespace: "thread",
    }));
    onLoad({ filter: /.*/, namespace: "thread" }, async ({ path }) => {
      const { outputFiles } = await bundled({
        entryPoints: [path],
        write: false,
        format: "cjs", // starts faster than a module
        define: { "import.meta.url": "threadUrl" },
        banner: { js: '"use strict"; const threadUrl = process.argv[2];' },
        external,
        plugins: [packageParts, looseRequires],
      });
      return { contents: outputFiles[0].text, loader: "text" };
    });
  },
};

function replaced(path, from, to) {
  const text = readFileSync(path, "utf8");
  if (!text.includes(from)) throw new Error(`${path} does not contain ${from}`);
  return text.replace(from, to);
}

async function bundleParts() {
  rmSync(parts, { recursive: true, force: true });
  for (const { file, from } of Object.values(PARTS))
    await bundled({
      entryPoints: [join(modules, from)],
      outfile: join(parts, file),
      format: "cjs",
      plugins: [nativeRequire],
    });
  cpSync(join(modules, "@photostructure/sqlite/prebuilds"), join(parts, "sqlite/prebuilds"), { recursive: true });
  for (const platform of NATIVE)
    cpSync(join(native, platform), join(parts, "native/bin/napi-v6", platform), {
      recursive: true,
      filter: (path) => !DIRECT_X.test(path),
    });
  for (const kind of ["mjs", "wasm"]) {
    const file = `ort-wasm-simd-threaded.${kind}`;
    cpSync(join(modules, "onnxruntime-web/dist", file), join(parts, "onnx", file));
  }
}

/**
 * esbuild has every chunk import the one with its helpers, which name `require`, although most use none of them. Blanks in place of
 * such an import keep the columns of the source map.
 */
function dropHelperImports({ outputs }) {
  const helpers = Object.keys(outputs).find((path) => outputs[path].exports.includes("__commonJS"));
  const statement = new RegExp(`import"[./]+${basename(helpers)}";`);
  for (const path of Object.keys(outputs).filter((name) => name.endsWith(".js"))) {
    const text = readFileSync(join(root, path), "utf8");
    writeFileSync(
      join(root, path),
      text.replace(statement, (found) => " ".repeat(found.length)),
    );
  }
}

/** The packages of ONNX Runtime come without it. */
const ONNX_RUNTIME_LICENCE = `MIT License

Copyright (c) Microsoft Corporation

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.`;

/** The licences of all packages of which the bundle contains something. */
function notices() {
  const names = [...inputs].flatMap((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
  const texts = [...new Set(names)].sort().map((name) => {
    const folder = join(modules, name);
    const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const files = readdirSync(folder).filter((file) => /^(licen[sc]e|notice|thirdpartynotices)/i.test(file));
    const text = files.map((file) => readFileSync(join(folder, file), "utf8").trim()).join("\n\n");
    if (text === "" && !name.startsWith("onnxruntime-")) throw new Error(`${name} has no text of its licence`);
    return `${name} ${version} (${license})\n\n${text || ONNX_RUNTIME_LICENCE}`;
  });
  return `Holdfast contains code of these packages.\n\n${texts.join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
}
