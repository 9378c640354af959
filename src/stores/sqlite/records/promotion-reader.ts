/** Reads the promotion log. */
import type { Page } from "../../../types.js";
import type { Promotion, PromotionsRequest } from "../../promotions.js";
import type { Statements } from "../file/connection.js";
import type { Row } from "../file/driver.js";
import { spaceRef } from "../rows/codec.js";
import type { Registry } from "../rows/registry.js";

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
    const space = this.#registry.findSpace(to);
    if (!space) return { items: [] };
    const list = ["promotions", order, space.key] as const;
    const [after] = cursor === undefined ? [start] : this.#registry.cursors.open(list, cursor);
    const rows = this.#statements.get(order === "asc" ? OLDEST_FIRST : NEWEST_FIRST).all(space.key, after, limit + 1);
    const items = rows.slice(0, limit).map((row) => ({ ...readPromotion(row), to }));
    if (rows.length <= limit) return { items };
    return { items, next: this.#registry.cursors.seal(list, [Number(rows[limit - 1]?.["key"])]) };
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
