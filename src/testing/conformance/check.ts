/** How the parts of the suite register their tests. */
import type { Store } from "../../stores/store.js";
import type { Probe } from "./probe.js";

/** A new, empty store for one test. */
export interface OpenedStore {
  readonly store: Store;
  /**
   * Opens a second handle on the same data, beside the first or after it was closed, as another process would. Absent
   * for a store that does not persist. The suite closes what it opens here.
   */
  readonly reopen?: () => Promise<Store>;
  /** Closes the store, if the test has not, and cleans up. */
  close(): Promise<void>;
}

export type Check = (title: string, body: (probe: Probe) => Promise<void>) => void;

/** For tests that need a second handle; skipped, with the reason, if there is none. */
export type CheckPersistent = (
  title: string,
  body: (probe: Probe, reopen: () => Promise<Store>) => Promise<void>,
) => void;
