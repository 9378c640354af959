/** The compiled embedder, as it is in the package. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "../support/root.js";

export { MiniLmEmbedder, type MiniLmOptions } from "holdfast/embedding";

/** For child processes, which import it separately. */
export const MINILM_URL = pathToFileURL(join(root, "dist/embedding/index.js")).href;
