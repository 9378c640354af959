/** Memory blocks inside a write transaction. */
import type { PutBlockDone, PutBlockWrite } from "../blocks.js";
import type { Database } from "./driver.js";
import type { Registry } from "./registry.js";
import type { Residue } from "./residue.js";
import type { Transaction } from "./transaction.js";

export class Blocks {
  constructor(_database: Database, _registry: Registry, _residue: Residue) {}

  put(_write: PutBlockWrite, _transaction: Transaction): PutBlockDone {
    throw new Error("not built");
  }

  /** Removes the block with all its versions. False if there is no such block. */
  forget(_space: number, _id: string, _transaction: Transaction): boolean {
    throw new Error("not built");
  }

  /** Removes all blocks of the space; how many there were. */
  forgetSpace(_space: number, _transaction: Transaction): number {
    throw new Error("not built");
  }
}
