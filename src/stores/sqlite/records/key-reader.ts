/** Reads API keys and the current names of their spaces. */
import type { Page, SpaceKind } from "../../../types.js";
import type { Access, KeySpace, KeysRequest, StoredKey } from "../../keys.js";
import type { Statements } from "../file/connection.js";
import type { Row } from "../file/driver.js";
import { spaceKind, spaceRef } from "../rows/codec.js";
import type { Registry } from "../rows/registry.js";

/** Conditions to find a key by. */
const BY_ID = "AND id = ?";
const BY_SPACE = "AND key IN (SELECT api_key FROM api_key_space WHERE space = ?)";

const SPACES = `
  SELECT named.kind, named.space, space.name
  FROM api_key_space AS named LEFT JOIN space ON space.key = named.space
  WHERE named.api_key = ? ORDER BY named.place`;

export class KeyReader {
  readonly #statements: Statements;
  readonly #registry: Registry;

  constructor(statements: Statements, registry: Registry) {
    this.#statements = statements;
    this.#registry = registry;
  }

  keys({ id, space: ref, limit, cursor }: KeysRequest): Page<StoredKey> {
    const space = ref && this.#registry.findSpace(ref)?.key;
    if (ref && space === undefined) return { items: [] };
    const list = ["keys", id, space] as const;
    const [after] = cursor === undefined ? [0] : this.#registry.cursors.open(list, cursor);
    const narrowing = [...(id === undefined ? [] : [BY_ID]), ...(space === undefined ? [] : [BY_SPACE])];
    const values = [id, space].filter((value) => value !== undefined);
    const page = this.#statements.get(
      `SELECT * FROM api_key WHERE key > ? ${narrowing.join(" ")} ORDER BY key LIMIT ?`,
    );
    const rows = page.all(after, ...values, limit + 1);
    const items = rows.slice(0, limit).map((row) => this.#read(row));
    if (rows.length <= limit) return { items };
    return { items, next: this.#registry.cursors.seal(list, [Number(rows[limit - 1]?.["key"])]) };
  }

  #read(row: Row): StoredKey {
    const spaces: KeySpace[] = [];
    const forgotten = new Set<SpaceKind>();
    for (const { kind, space, name } of this.#statements.get(SPACES).all(Number(row["key"]))) {
      if (space === 0) spaces.push(spaceKind(kind));
      else if (name === null) forgotten.add(spaceKind(kind));
      else spaces.push(spaceRef(kind, name));
    }
    return {
      id: String(row["id"]),
      ...(row["name"] !== null && { name: String(row["name"]) }),
      access: String(row["access"]) as Access,
      spaces,
      ...(forgotten.size > 0 && { forgotten: [...forgotten] }),
      createdAt: Number(row["created_at"]),
      ...(row["expires_at"] !== null && { expiresAt: Number(row["expires_at"]) }),
      ...(row["revoked_at"] !== null && { revokedAt: Number(row["revoked_at"]) }),
      hash: String(row["hash"]),
    };
  }
}
