/** For tests of and with Holdfast. The suites need vitest, the model fast-check as well. */
export type { OpenedStore } from "./conformance/check.js";
export { FakeClock } from "./fake-clock.js";
export { type CommitFault, FaultyStore } from "./faulty-store.js";
export { type StoreConformance, storeConformance } from "./store-conformance.js";
export { type StoreModel, storeModel } from "./store-model.js";
