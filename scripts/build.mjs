// Builds dist/, which is the package: the bundle of src/, its declarations, and the dashboard. In build/, which is never published,
// are src/ as single modules (build/lib, for tests of parts that have no public name) and the compiled test/, bench/ and scripts/.
// Both folders are emptied first, so that no compiled code of a deleted source remains.
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { buildUi } from "./build-ui.mjs";
import { bundle } from "./bundle.mjs";
import { copyDeclarations } from "./declarations.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
for (const folder of ["dist", "build"]) rmSync(`${root}/${folder}`, { recursive: true, force: true });
for (const project of ["tsconfig.src.json", "tsconfig.build.json"]) {
  try {
    execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", project], { cwd: root, stdio: "inherit" });
  } catch {
    process.exit(1); // tsc has printed the errors
  }
}
copyDeclarations();
await bundle();
await buildUi();
