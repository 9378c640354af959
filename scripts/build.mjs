// Compiles src/ into dist/ (the package) and test/, bench/ and scripts/ into build/ (never published).
// Both folders are emptied first, so that a deleted source cannot live on as compiled code.
// The storage thread's modules then become one file, in the place of its entry: a file opens with three such threads, and
// loading fifty modules was half of what each took to start. (tsc by itself puts the entry back as it was, which works too.)
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
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

const thread = `${root}/dist/stores/sqlite/worker.js`;
await build({
  entryPoints: [thread],
  outfile: thread,
  allowOverwrite: true,
  bundle: true,
  packages: "external",
  platform: "node",
  format: "esm",
  target: "node20",
  sourcemap: true,
  sourcesContent: false,
  logLevel: "warning",
});
