/**
 * Points (vectors of callers' own) inside a write transaction.
 *
 * No query returns a point, so a write does not change the version of its space. A point that is stored again with
 * nothing changed is not written.
 */
import { newId } from "../../../ids.js";
import type { Gone } from "../../gone.js";
import { otherPoint, requireDimensions } from "../../point-rules.js";
import { type PutPointDone, type PutPointWrite, pointName } from "../../points.js";
import type { OutboxWriter } from "../embedding/outbox.js";
import type { Database, Row, Statement } from "../file/driver.js";
import type { Receipts } from "../rows/receipts.js";
import type { Registry } from "../rows/registry.js";
import type { Residue } from "../rows/residue.js";
import type { Transaction } from "../rows/transaction.js";

export interface PointParts {
  readonly registry: Registry;
  readonly residue: Residue;
  readonly receipts: Receipts;
  readonly outbox: OutboxWriter;
}

export class Points {
  readonly #parts: PointParts;
  readonly #collection: Statement;
  readonly #collectionOf: Statement;
  readonly #addCollection: Statement;
  readonly #dropCollection: Statement;
  readonly #find: Statement;
  readonly #insert: Statement;
  readonly #update: Statement;
  readonly #delete: Statement;
  readonly #byName: Statement;
  readonly #bySession: Statement;
  readonly #bySpace: Statement;
  readonly #expired: Statement;

  /** `limit` is the number of points that one slice of a forget looks at. */
  constructor(database: Database, parts: PointParts, limit: number) {
    this.#parts = parts;
    this.#collection = database.prepare("SELECT key, id, dimensions FROM collection WHERE space = ? AND name = ?");
    this.#collectionOf = database.prepare("SELECT id, space, name, dimensions FROM collection WHERE key = ?");
    this.#addCollection = database.prepare(
      "INSERT INTO collection (id, space, name, dimensions) VALUES (?, ?, ?, ?) RETURNING key, id, dimensions",
    );
    this.#dropCollection = database.prepare(
      "DELETE FROM collection WHERE key = ?1 AND NOT EXISTS (SELECT 1 FROM point WHERE collection = ?1) RETURNING name",
    );
    this.#find = database.prepare(
      `SELECT point.key, session, vector, payload, stored_at + space.retention_ms AS until
       FROM point JOIN space ON space.key = ? WHERE point.id = ? AND collection = ?`,
    );
    this.#insert = database.prepare(
      "INSERT INTO point (key, collection, id, session, stored_at, vector, payload) VALUES (?, ?, ?, ?, ?, ?, ?)",
    );
    this.#update = database.prepare(
      "UPDATE point SET session = ?, stored_at = ?, vector = ?, payload = ? WHERE key = ?",
    );
    this.#delete = database.prepare("DELETE FROM point WHERE key = ? RETURNING key, collection, id, vector, payload");
    this.#byName = database.prepare(
      `SELECT point.key FROM collection JOIN point ON point.collection = collection.key
       WHERE collection.space = ? AND collection.name = ? AND point.id = ?`,
    );
    this.#bySession = database.prepare(`SELECT key FROM point WHERE session = ? LIMIT ${limit}`);
    this.#bySpace = database.prepare(
      `SELECT point.key FROM collection JOIN point ON point.collection = collection.key
       WHERE collection.space = ? LIMIT ${limit}`,
    );
    this.#expired = database.prepare(
      `SELECT point.key FROM space CROSS JOIN collection ON collection.space = space.key
       CROSS JOIN point ON point.collection = collection.key AND point.stored_at <= ?1 - space.retention_ms
       WHERE space.retention_ms IS NOT NULL LIMIT ${limit}`,
    );
  }

  put(write: PutPointWrite, transaction: Transaction): PutPointDone {
    const { id, vector, existing } = write;
    const { now } = transaction;
    const space = this.#parts.registry.ensureSpace(write.space, transaction);
    const session = write.session === undefined ? null : this.#sessionOf(space, write.session, transaction);
    const collection =
      this.#collection.get(space, write.collection) ??
      (this.#addCollection.get(newId(now), space, write.collection, vector.length) as Row);
    requireDimensions(Number(collection["dimensions"]), vector);

    const bytes = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
    const payload = JSON.stringify(write.payload);
    const found = this.#find.get(space, id, Number(collection["key"]));
    if (found) {
      const isSame =
        found["session"] === session && found["payload"] === payload && isEqual(found["vector"] as Uint8Array, bytes);
      const isOver = found["until"] !== null && Number(found["until"]) <= now;
      if (isSame && !isOver) return { op: "put_point", outcome: "unchanged" };
      if (existing === "same" && !isOver) throw otherPoint(id);
    }
    const key = found ? Number(found["key"]) : transaction.takeKey();
    if (found) this.#update.run(session, now, bytes, payload, key);
    else this.#insert.run(key, Number(collection["key"]), id, session, now, bytes, payload);
    this.#parts.outbox.upsertPoint({ key, space, collection: String(collection["id"]), dimensions: vector.length });
    transaction.kept();
    return { op: "put_point", outcome: found ? "updated" : "added" };
  }

  #sessionOf(space: number, name: string, transaction: Transaction): number {
    const { registry } = this.#parts;
    return (registry.findSession(space, name) ?? registry.createSession(space, name, null, transaction)).key;
  }

  /** The points of these names that exist. */
  named(space: number, collection: string, ids: readonly string[]): readonly Row[] {
    return [...new Set(ids)].flatMap((id): Row | readonly Row[] => this.#byName.get(space, collection, id) ?? []);
  }

  ofSession(session: number): readonly Row[] {
    return this.#bySession.all(session);
  }

  ofSpace(space: number): readonly Row[] {
    return this.#bySpace.all(space);
  }

  expired(now: number): readonly Row[] {
    return this.#expired.all(now);
  }

  /** Removes a point, and with the last one its collection. */
  forget(key: number, transaction: Transaction, gone: Gone): void {
    const row = this.#delete.get(key) as Row;
    const { residue, receipts, outbox } = this.#parts;
    const of = Number(row["collection"]);
    const collection = this.#collectionOf.get(of) as Row;
    const space = Number(collection["space"]);
    residue.remember({ id: row["id"] as string, payload: row["payload"] as string });
    residue.rememberVectors(row["vector"] as Uint8Array);
    outbox.deletePoint({
      key,
      space,
      collection: String(collection["id"]),
      dimensions: Number(collection["dimensions"]),
    });
    const dropped = this.#dropCollection.get(of);
    if (dropped) residue.remember(dropped);
    if (receipts.forget(pointName(String(collection["name"]), String(row["id"])), space)) gone.keysLeft = true;
    gone.points++;
    transaction.kept();
    transaction.forgot(1);
  }
}

const isEqual = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;
