/** The root of the repository, found from the location of the compiled test. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

let folder = dirname(fileURLToPath(import.meta.url));
while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);

export const root = folder;
