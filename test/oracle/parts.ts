/** Parts of the compiled package that the oracle is made of; they are not public, and come by path. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type * as reading from "../../dist/buffers/query/reading.js";
import type { loadConfig as load } from "../../dist/config.js";
import type { meanVector as mean } from "../../dist/embedding/question.js";
import type { fuse as fuseAll, NEAREST as nearest } from "../../dist/retrieval/fusion.js";
import type { dot as product } from "../../dist/retrieval/vectors/dot.js";
import type { bruteForceScores as scores } from "../../dist/testing/brute-force.js";
import { root } from "../support/root.js";

const part = (path: string): Promise<unknown> => import(pathToFileURL(join(root, "dist", path)).href);

export const { loadConfig } = (await part("config.js")) as { readonly loadConfig: typeof load };
export const { readSaid, readTerms, readTexts } = (await part("buffers/query/reading.js")) as typeof reading;
export const { meanVector } = (await part("embedding/question.js")) as { readonly meanVector: typeof mean };
export const { fuse, NEAREST } = (await part("retrieval/fusion.js")) as {
  readonly fuse: typeof fuseAll;
  readonly NEAREST: typeof nearest;
};
export const { dot } = (await part("retrieval/vectors/dot.js")) as { readonly dot: typeof product };
export const { bruteForceScores } = (await part("testing/brute-force.js")) as {
  readonly bruteForceScores: typeof scores;
};
