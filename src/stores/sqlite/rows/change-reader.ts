/** The changes of a space since one of its versions. Requires a snapshot. */
import type { Changes, ChangesCursor } from "../../store.js";
import type { Statements } from "../file/connection.js";
import type { Row } from "../file/driver.js";
import { spaceParts } from "./codec.js";

/** A reader that has missed more changes of a space than this must start over. */
const CHANGES_MAX = 10_000;

const SPACE = "SELECT key, id, version, change_floor FROM space WHERE kind = ? AND name = ?";

/** The oldest item that a result can include; more items would exceed the limit. */
const OLDEST = `SELECT key FROM item WHERE space = ? ORDER BY key DESC LIMIT 1 OFFSET ${CHANGES_MAX}`;

/**
 * The last item that the reader has seen. Keys increase with each add, so all items after it are new. Edited items
 * before it come from the change table.
 */
const LAST_KNOWN = "SELECT key FROM item WHERE space = ? AND key >= ? AND space_version <= ? ORDER BY key DESC LIMIT 1";

const CHANGED = `
  SELECT id, version, space_version FROM item WHERE space = ?1 AND key > ?3
  UNION SELECT item.id, item.version, item.space_version FROM change CROSS JOIN item ON item.key = change.item
    WHERE change.space = ?1 AND change.space_version > ?2 LIMIT ${CHANGES_MAX + 1}`;

const REMOVED = `SELECT space_version, count(*) AS items FROM change
  WHERE space = ? AND space_version > ? AND removed = 1 GROUP BY space_version`;

export class ChangeReader {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  changes({ space, since }: ChangesCursor): Changes {
    const [, kind, name] = spaceParts(space);
    const found = this.#statements.get(SPACE).get(kind, name);
    if (!found) return { version: undefined, changed: [], removed: [], complete: since === undefined };
    const version = { id: String(found["id"]), version: Number(found["version"]) };
    const isKnown = since?.id === version.id && since.version <= version.version;
    const from = isKnown ? since.version : 0;
    const isKept = isKnown ? from >= Number(found["change_floor"]) : since === undefined;
    if (from === version.version) return { version, changed: [], removed: [], complete: isKept };
    const key = Number(found["key"]);
    const changed = this.#statements.get(CHANGED).all(key, from, this.#lastKnown(key, from));
    return {
      version,
      changed: changed.slice(0, CHANGES_MAX).map(readChange),
      removed: this.#statements.get(REMOVED).all(key, from).map(readRemoval),
      complete: isKept && changed.length <= CHANGES_MAX,
    };
  }

  #lastKnown(space: number, from: number): number {
    const oldest = Number(this.#statements.get(OLDEST).get(space)?.["key"] ?? 0);
    return Number(this.#statements.get(LAST_KNOWN).get(space, oldest, from)?.["key"] ?? oldest - 1);
  }
}

const readChange = (row: Row): Changes["changed"][number] => ({
  id: String(row["id"]),
  version: Number(row["version"]),
  spaceVersion: Number(row["space_version"]),
});

const readRemoval = (row: Row): Changes["removed"][number] => ({
  items: Number(row["items"]),
  spaceVersion: Number(row["space_version"]),
});
