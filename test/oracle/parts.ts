/** The parts of the compiled package that the oracle uses; they are not public, and imported by path. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { textsOf as texts } from "../../build/lib/buffers/query/retriever.js";
import type { loadConfig as load } from "../../build/lib/config.js";
import type { meanVector as mean } from "../../build/lib/embedding/question.js";
import type { fuse as fuseAll, NEAREST as nearest } from "../../build/lib/retrieval/fusion.js";
import type { datesIn as dates } from "../../build/lib/retrieval/question/dates.js";
import type { refersBack as refers } from "../../build/lib/retrieval/question/refers-back.js";
import type { dot as product } from "../../build/lib/retrieval/vectors/dot.js";
import type { roundedQuestion as roundQuestion } from "../../build/lib/retrieval/vectors/quantise.js";
import type { analyse as analyseText } from "../../build/lib/retrieval/words/analyse.js";
import type * as lookups from "../../build/lib/retrieval/words/lookups.js";
import type { contentTerms as content } from "../../build/lib/retrieval/words/stop.js";
import type * as bruteForce from "../../build/lib/testing/brute-force.js";
import { root } from "../support/root.js";

const part = (path: string): Promise<unknown> => import(pathToFileURL(join(root, "build/lib", path)).href);

export const { loadConfig } = (await part("config.js")) as { readonly loadConfig: typeof load };
export const { textsOf } = (await part("buffers/query/retriever.js")) as { readonly textsOf: typeof texts };
export const { datesIn } = (await part("retrieval/question/dates.js")) as { readonly datesIn: typeof dates };
export const { refersBack } = (await part("retrieval/question/refers-back.js")) as {
  readonly refersBack: typeof refers;
};
export const { analyse } = (await part("retrieval/words/analyse.js")) as { readonly analyse: typeof analyseText };
export const { contentTerms } = (await part("retrieval/words/stop.js")) as { readonly contentTerms: typeof content };
export const { meanVector } = (await part("embedding/question.js")) as { readonly meanVector: typeof mean };
export const { fuse, NEAREST } = (await part("retrieval/fusion.js")) as {
  readonly fuse: typeof fuseAll;
  readonly NEAREST: typeof nearest;
};
export const { dot } = (await part("retrieval/vectors/dot.js")) as { readonly dot: typeof product };
export const { roundedQuestion } = (await part("retrieval/vectors/quantise.js")) as {
  readonly roundedQuestion: typeof roundQuestion;
};
export const { exactMatches, lookupsIn } = (await part("retrieval/words/lookups.js")) as typeof lookups;
export const { bruteForceLookup, bruteForceScores } = (await part("testing/brute-force.js")) as typeof bruteForce;
