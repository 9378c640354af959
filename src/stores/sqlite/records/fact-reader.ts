/** Reads facts with their spans and sources. */
import type { Page, SpaceRef } from "../../../types.js";
import { FACT_STATES, type Fact, type FactSource, type FactSpan, type FactsRequest } from "../../facts.js";
import type { Statements } from "../file/connection.js";
import type { Row } from "../file/driver.js";
import { stateCode } from "../items/fact-records.js";
import { type SpaceRow, spaceRef } from "../rows/codec.js";
import type { Registry } from "../rows/registry.js";
import { all, type Condition, keysOf } from "../rows/scope.js";

const FACT_SELECT = `
  SELECT fact.*, space.kind AS space_kind, space.name AS space_name
  FROM fact JOIN space ON space.key = fact.space LEFT JOIN item ON item.id = fact.id AND item.space = fact.space`;

/** Includes the id of the superseding fact while that fact exists. */
const SPANS = `
  SELECT span.start, span."end", later.id AS later FROM fact_span AS span
  LEFT JOIN fact AS later ON later.key = span.superseded_by WHERE span.fact = ? ORDER BY span.start`;

const SOURCES = `
  SELECT source.message, session.name AS session FROM fact_source AS source
  LEFT JOIN item ON item.id = source.message AND item.space = source.space
  LEFT JOIN session ON session.key = coalesce(source.session, item.session)
  WHERE source.fact = ? ORDER BY source.key`;

export class FactReader {
  readonly #statements: Statements;
  readonly #registry: Registry;

  constructor(statements: Statements, registry: Registry) {
    this.#statements = statements;
    this.#registry = registry;
  }

  facts(request: FactsRequest): Page<Fact> {
    const { limit, cursor } = request;
    const spaces = this.#registry.findSpaces(request.spaces);
    if (spaces.length === 0) return { items: [] };
    const list = ["facts", ...keysOf(spaces)] as const;
    const [after] = cursor === undefined ? [0] : this.#registry.cursors.open(list, cursor);
    const { sql, values } = all([{ sql: "fact.key > ?", values: [after] }, ...conditionsOf(request, spaces)]);
    const select = this.#statements.get(`${FACT_SELECT} WHERE ${sql} ORDER BY fact.key LIMIT ?`);
    const rows = select.all(...values, limit + 1);
    const items = rows.slice(0, limit).map((row) => this.#read(row));
    if (rows.length <= limit) return { items };
    return { items, next: this.#registry.cursors.seal(list, [Number(rows[limit - 1]?.["key"])]) };
  }

  /** Requires that the fact exists. */
  get(key: number): Fact {
    return this.#read(this.#statements.get(`${FACT_SELECT} WHERE fact.key = ?`).get(key) as Row);
  }

  extracted(space: SpaceRef, session: string): number {
    const spaceKey = this.#registry.findSpace(space)?.key ?? -1;
    const select = this.#statements.get("SELECT extracted FROM session WHERE space = ? AND name = ?");
    return Number(select.get(spaceKey, session)?.["extracted"] ?? 0);
  }

  #read(row: Row): Fact {
    const key = Number(row["key"]);
    return {
      id: String(row["id"]),
      space: spaceRef(row["space_kind"], row["space_name"]),
      category: String(row["category"]),
      content: String(row["content"]),
      confidence: Number(row["confidence"]),
      pinned: row["pinned"] === 1,
      state: FACT_STATES[Number(row["state"])] ?? "ended",
      spans: this.#statements.get(SPANS).all(key).map(readSpan),
      sources: this.#statements.get(SOURCES).all(key).map(readSource),
      recordedAt: Number(row["recorded_at"]),
      updatedAt: Number(row["updated_at"]),
      version: Number(row["version"]),
    };
  }
}

function conditionsOf(request: FactsRequest, spaces: readonly SpaceRow[]): Condition[] {
  const { ids, categories, pinned, states = ["holds"], asOf, now } = request;
  const conditions = [visibleIn(spaces, now)];
  if (ids) conditions.push(anyOf("fact.id", ids));
  if (categories) conditions.push(anyOf("fact.category", categories));
  if (pinned !== undefined) conditions.push({ sql: `fact.pinned = ${pinned ? 1 : 0}`, values: [] });
  conditions.push(asOf === undefined ? anyOf("fact.state", states.map(stateCode)) : heldAt(asOf));
  return conditions;
}

/** A fact that holds has the expiry of its item. */
function visibleIn(spaces: readonly SpaceRow[], now: number): Condition {
  const keys = JSON.stringify(spaces.map(({ key }) => key));
  return {
    sql: `fact.space IN (SELECT value FROM json_each(?))
      AND (space.retention_ms IS NULL OR fact.kept_from + space.retention_ms > ?)
      AND ifnull(coalesce(item.expires_at, fact.expires_at) > ?, 1)`,
    values: [keys, now, now],
  };
}

const heldAt = (time: number): Condition => ({
  sql: `fact.state <> ${stateCode("retracted")} AND EXISTS (SELECT 1 FROM fact_span AS span
    WHERE span.fact = fact.key AND span.start <= ? AND (span."end" IS NULL OR span."end" > ?))`,
  values: [time, time],
});

const anyOf = (column: string, wanted: readonly (string | number)[]): Condition => ({
  sql: `${column} IN (SELECT value FROM json_each(?))`,
  values: [JSON.stringify(wanted)],
});

function readSpan(row: Row): FactSpan {
  const { end, later } = row;
  return {
    from: Number(row["start"]),
    ...(end !== null && { to: Number(end) }),
    ...(later !== null && { supersededBy: String(later) }),
  };
}

function readSource({ message, session }: Row): FactSource {
  return {
    ...(session !== null && { session: String(session) }),
    ...(message !== null && { message: String(message) }),
  };
}
