/** What a check may look at. */
import type { Database } from "../../stores/sqlite/driver.js";

export interface Look {
  /** Read-only, inside a snapshot. */
  readonly database: Database;
  readonly path: string;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Whether to read everything, however long it takes. */
  readonly deep: boolean;
  /** The embedding model that is configured; absent: words only. */
  readonly model?: string;
}
