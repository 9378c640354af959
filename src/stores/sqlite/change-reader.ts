/** What has changed in some spaces since a commit. Requires a snapshot. */
import type { SpaceRef } from "../../types.js";
import type { Changes, ChangesBounds } from "../store.js";
import { spaceRef } from "./codec.js";
import type { Row } from "./driver.js";
import type { Registry } from "./registry.js";
import type { Statements } from "./statements.js";

/** Whoever has missed more changes than this starts over. */
const CHANGES_MAX = 10_000;

export class ChangeReader {
  readonly #statements: Statements;
  readonly #registry: Registry;

  constructor(statements: Statements, registry: Registry) {
    this.#statements = statements;
    this.#registry = registry;
  }

  changes(spaces: readonly SpaceRef[], since: number, bounds?: ChangesBounds): Changes {
    const upTo = bounds?.upTo ?? Number.MAX_SAFE_INTEGER;
    const without = JSON.stringify(bounds?.without ?? []);
    const head = this.#statements
      .get("SELECT commit_no, max(tombstone_floor, names_floor) AS floor FROM head")
      .get() as Row;
    const keys = JSON.stringify(this.#registry.findSpaces(spaces).map(({ key }) => key));
    const changed = this.#statements
      .get(
        `SELECT item.id, item.version, space.kind AS space_kind, space.name AS space_name
         FROM item JOIN space ON space.key = item.space
         WHERE item.commit_no > ? AND item.commit_no <= ? AND +item.space IN (SELECT value FROM json_each(?))
           AND item.commit_no NOT IN (SELECT value FROM json_each(?)) LIMIT ?`,
      )
      .all(since, upTo, keys, without, CHANGES_MAX + 1);
    const removed = this.#statements
      .get(
        `SELECT count(*) AS n FROM tombstone WHERE commit_no > ? AND commit_no <= ?
           AND space IN (SELECT value FROM json_each(?)) AND commit_no NOT IN (SELECT value FROM json_each(?))`,
      )
      .get(since, upTo, keys, without) as Row;
    return {
      commit: Number(head["commit_no"]),
      changed: changed.slice(0, CHANGES_MAX).map((row) => ({
        space: spaceRef(row["space_kind"], row["space_name"]),
        id: String(row["id"]),
        version: Number(row["version"]),
      })),
      removed: Number(removed["n"]),
      complete: since >= Number(head["floor"]) && changed.length <= CHANGES_MAX,
    };
  }
}
