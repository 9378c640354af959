/** Facts inside a write transaction. */
import type { EndFactDone, EndFactWrite, ExtractedDone, ExtractedWrite, PutFactDone, PutFactWrite } from "../facts.js";
import type { Database } from "./driver.js";
import type { Items } from "./items.js";
import type { Registry } from "./registry.js";
import type { Residue } from "./residue.js";
import type { Transaction } from "./transaction.js";

export class Facts {
  constructor(_database: Database, _registry: Registry, _items: Items, _residue: Residue) {}

  put(_write: PutFactWrite, _transaction: Transaction): PutFactDone {
    throw new Error("not built");
  }

  end(_write: EndFactWrite, _transaction: Transaction): EndFactDone {
    throw new Error("not built");
  }

  noteExtracted(_write: ExtractedWrite, _transaction: Transaction): ExtractedDone {
    throw new Error("not built");
  }
}
