/** Promotions inside a write transaction. */
import type { PromoteDone, PromoteWrite } from "../promotions.js";
import type { Database } from "./driver.js";
import type { Facts } from "./facts.js";
import type { Items } from "./items.js";
import type { Registry } from "./registry.js";
import type { Transaction } from "./transaction.js";

export class Promotions {
  constructor(_database: Database, _registry: Registry, _items: Items, _facts: Facts) {}

  promote(_write: PromoteWrite, _transaction: Transaction): PromoteDone {
    throw new Error("not built");
  }
}
