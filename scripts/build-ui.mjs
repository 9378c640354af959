// Checks the types of the dashboard (ui/) and bundles it into dist/ui, which the server serves. Requires the types in dist/.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const root = fileURLToPath(new URL("..", import.meta.url));

export async function buildUi() {
  try {
    execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "ui"], { cwd: root, stdio: "inherit" });
  } catch {
    process.exit(1); // tsc has printed the errors
  }
  await build({ root: `${root}/ui`, configFile: `${root}/ui/vite.config.mjs`, logLevel: "warn" });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildUi();
