/** The input of a check. */
import type { Database } from "../../stores/sqlite/file/driver.js";

export interface Look {
  /** Read-only, inside a snapshot. */
  readonly database: Database;
  readonly path: string;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Reads everything, however long that takes. */
  readonly deep: boolean;
  /** The configured embedding model; undefined: words only. */
  readonly model?: string;
}
