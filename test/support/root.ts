/** The repository's root, found from wherever the compiled test lies. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

let folder = dirname(fileURLToPath(import.meta.url));
while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);

export const root = folder;
