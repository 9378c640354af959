// Compiles src/ and ui/ into dist/ (the package) and test/, bench/ and scripts/ into build/ (never published).
// Both folders are emptied first, so that no compiled code of a deleted source remains.
// The modules of the storage threads are then bundled into one file: a memory starts three of them, and loading modules
// takes 10 of the 58 ms that each needs to start. (tsc alone leaves a thread.js that starts them unbundled, which works too.)
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { buildUi } from "./build-ui.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
for (const folder of ["dist", "build"]) rmSync(`${root}/${folder}`, { recursive: true, force: true });
for (const project of ["tsconfig.src.json", "tsconfig.build.json"]) {
  try {
    execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", project], { cwd: root, stdio: "inherit" });
  } catch {
    process.exit(1); // tsc has printed the errors
  }
}

const folder = `${root}/dist/stores/sqlite`;
await build({
  entryPoints: [`${folder}/worker.js`],
  outfile: `${folder}/worker.cjs`,
  bundle: true,
  external: ["@photostructure/sqlite"],
  platform: "node",
  // Node loads a script faster than a module.
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

await buildUi();

/** The licence of a bundled package. */
function noticeOf(path) {
  return readFileSync(`${root}/node_modules/${path}`, "utf8").trim().replaceAll("*/", "* /");
}
