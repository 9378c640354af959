/** Reads the log of promotions. */
import type { Page } from "../../types.js";
import type { Promotion, PromotionsRequest } from "../promotions.js";
import { spaceRef } from "./codec.js";
import type { Row } from "./driver.js";
import { badCursor, type Registry } from "./registry.js";
import type { Statements } from "./statements.js";

const page = (after: string, order: string): string => `
  SELECT promotion.key, promotion.id, promotion.actor, promotion.reason, promotion.at,
    origin.kind AS from_kind, origin.name AS from_name
  FROM promotion LEFT JOIN space AS origin ON origin.key = promotion.from_space
  WHERE promotion.to_space = ? AND promotion.key ${after} ? ORDER BY promotion.key ${order} LIMIT ?`;
const OLDEST_FIRST = page(">", "ASC");
const NEWEST_FIRST = page("<", "DESC");

export class PromotionReader {
  readonly #statements: Statements;
  readonly #registry: Registry;

  constructor(statements: Statements, registry: Registry) {
    this.#statements = statements;
    this.#registry = registry;
  }

  promotions({ space: to, order = "desc", limit, cursor }: PromotionsRequest): Page<Promotion> {
    const start = order === "asc" ? 0 : Number.MAX_SAFE_INTEGER;
    const after = cursor === undefined ? start : parseCursor(cursor);
    const space = this.#registry.findSpace(to);
    if (!space) return { items: [] };
    const rows = this.#statements.get(order === "asc" ? OLDEST_FIRST : NEWEST_FIRST).all(space.key, after, limit + 1);
    const items = rows.slice(0, limit).map((row) => ({ ...readPromotion(row), to }));
    return rows.length > limit ? { items, next: `p${rows[limit - 1]?.["key"]}` } : { items };
  }
}

function readPromotion(row: Row): Omit<Promotion, "to"> {
  return {
    id: String(row["id"]),
    ...(row["from_name"] !== null && { from: spaceRef(row["from_kind"], row["from_name"]) }),
    ...(row["actor"] !== null && { actor: String(row["actor"]) }),
    reason: String(row["reason"]),
    at: Number(row["at"]),
  };
}

function parseCursor(cursor: string): number {
  const key = /^p(\d{1,15})$/.exec(cursor)?.[1];
  if (key === undefined) throw badCursor(cursor);
  return Number(key);
}
