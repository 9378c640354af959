// Compiles src/ into dist/ (the package) and test/, bench/ and scripts/ into build/ (never published).
// Both folders are emptied first, so that a deleted source cannot live on as compiled code.
// The storage thread's modules then become one file, and threads are started with that: a memory opens with three of them,
// and of the 58 ms that each took to start, 10 went into loading modules. (tsc by itself puts back a thread.js that starts
// them with the modules as they are, which works too.)
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
for (const folder of ["dist", "build"]) rmSync(`${root}/${folder}`, { recursive: true, force: true });
for (const project of ["tsconfig.src.json", "tsconfig.build.json"]) {
  try {
    execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", project], { cwd: root, stdio: "inherit" });
  } catch {
    process.exit(1); // tsc has printed what is wrong
  }
}

const folder = `${root}/dist/stores/sqlite`;
await build({
  entryPoints: [`${folder}/worker.js`],
  outfile: `${folder}/worker.cjs`,
  bundle: true,
  external: ["@photostructure/sqlite"],
  platform: "node",
  // Node loads a script sooner than a module.
  format: "cjs",
  define: { "import.meta.url": "entryUrl" },
  banner: {
    js: `"use strict";
/* Made of worker.js.\n\nlru-cache:\n${noticeOf("lru-cache/LICENSE.md")}\n\nstemmer:\n${noticeOf("stemmer/license")} */
const entryUrl = require("node:url").pathToFileURL(__filename).href;`,
  },
  target: "node20",
  minifySyntax: true,
  minifyWhitespace: true,
  sourcemap: true,
  sourcesContent: false,
  logLevel: "warning",
});
const thread = readFileSync(`${folder}/thread.js`, "utf8");
const started = thread.replace('"./worker.js"', '"./worker.cjs"');
if (started === thread) throw new Error("thread.js does not name its entry any more");
writeFileSync(`${folder}/thread.js`, started);

/** What is put into the script comes with its licence. */
function noticeOf(path) {
  return readFileSync(`${root}/node_modules/${path}`, "utf8").trim().replaceAll("*/", "* /");
}
