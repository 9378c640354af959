// Compiles src/ into dist/ (the package) and test/, bench/ and scripts/ into build/ (never published).
// Both folders are emptied first, so that a deleted source cannot live on as compiled code.
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
for (const folder of ["dist", "build"]) rmSync(`${root}/${folder}`, { recursive: true, force: true });
for (const project of ["tsconfig.src.json", "tsconfig.build.json"]) {
  try {
    execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", project], { cwd: root, stdio: "inherit" });
  } catch {
    process.exit(1); // tsc has printed what is wrong
  }
}
