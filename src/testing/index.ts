/** For tests of and with Holdfast. The suites need vitest; the model also needs fast-check. */
export { type Scored, searchVectors, searchWords, type VectorsRequest, type WordsRequest } from "./arms.js";
export type { OpenedStore } from "./conformance/check.js";
export { type EmbedderConformance, embedderConformance } from "./embedder-conformance.js";
export { FakeClock } from "./fake-clock.js";
export { type CommitFault, FaultyStore } from "./faulty-store.js";
export { HashEmbedder, type HashEmbedderOptions } from "./hash-embedder.js";
export { type StoreConformance, storeConformance } from "./store-conformance.js";
export { type StoreModel, storeModel } from "./store-model.js";
export { type VectorIndexConformance, vectorIndexConformance } from "./vector-index-conformance.js";
