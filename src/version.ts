/** The version of this package. */
import { readFileSync } from "node:fs";

const file = new URL("../package.json", import.meta.url);

export const VERSION = (JSON.parse(readFileSync(file, "utf8")) as { readonly version: string }).version;
