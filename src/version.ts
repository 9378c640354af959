/** The version of this package; "unknown" in a bundle that was shipped without the package's files. */
import { existsSync, readFileSync } from "node:fs";
import { packageFile } from "./package-files.js";

export const VERSION = versionIn(packageFile("package.json"));

function versionIn(file: string): string {
  if (!existsSync(file)) return "unknown";
  return (JSON.parse(readFileSync(file, "utf8")) as { readonly version: string }).version;
}
