/** Writes vectors inside a write transaction, but only where nothing has changed since they were computed. */
import { HoldfastError } from "../../../errors.js";
import type { EmbeddedItem, IndexingDone, IndexingWrite, IndexWrite } from "../../indexing.js";
import { isSameSpace } from "../../vector-space.js";
import { Statements } from "../file/connection.js";
import type { Database, Row, Statement } from "../file/driver.js";
import { FRESH, findLane, inLane, type LaneRow, WAITS } from "../rows/lanes.js";
import type { Registry } from "../rows/registry.js";
import type { Transaction } from "../rows/transaction.js";
import type { Embeddable, Embeddings } from "./embeddings.js";
import type { Leases } from "./leases.js";
import type { OutboxWriter } from "./outbox.js";
import type { Parking } from "./parking.js";
import type { Reindexing } from "./reindex.js";
import type { SpaceSwitch } from "./reindex-switch.js";
import { anotherVectorSpace, type VectorTable } from "./vector-table.js";

/** The components that apply indexing writes. */
export interface IndexerParts {
  readonly registry: Registry;
  readonly leases: Leases;
  readonly embeddings: Embeddings;
  readonly parking: Parking;
  readonly outbox: OutboxWriter;
  readonly reindexing: Reindexing;
  readonly spaceSwitch: SpaceSwitch;
}

export class Indexer {
  readonly #parts: IndexerParts;
  readonly #statements: Statements;
  readonly #item: Statement;
  readonly #indexed: Statement;

  constructor(database: Database, parts: IndexerParts) {
    this.#statements = new Statements(database);
    this.#parts = parts;
    this.#item = database.prepare(`SELECT key, space, session FROM item WHERE ${FRESH} AND key = ? AND version = ?`);
    this.#indexed = database.prepare("UPDATE item SET indexed = version, parked = 0 WHERE key = ?");
  }

  apply(write: IndexingWrite, transaction: Transaction): IndexingDone {
    const { leases, parking, outbox } = this.#parts;
    switch (write.op) {
      case "claim":
        return leases.claim(write, transaction);
      case "beat":
        return leases.beat(write, transaction);
      case "release":
        return leases.release(write, transaction);
      case "index":
        return this.#index(write, transaction);
      case "park":
        return parking.park(write, transaction);
      case "replay":
        return parking.replay(write, transaction);
      case "attach":
        return outbox.attach(write, transaction);
      case "acknowledge":
        return outbox.acknowledge(write, transaction);
      case "begin_reindex":
        return this.#parts.reindexing.begin(write, transaction);
      case "reindex":
        return this.#parts.reindexing.write(write, transaction);
      case "abandon_reindex":
        return this.#parts.reindexing.abandon(transaction);
      case "switch_space":
        return this.#parts.spaceSwitch.switch(write, transaction);
    }
  }

  #index(write: IndexWrite, transaction: Transaction): IndexingDone {
    const { registry, leases, embeddings } = this.#parts;
    requireVectorsOf(write, embeddings.table);
    const lane = findLane(registry, write.lane);
    if (!lane || !leases.holds(lane.key, write.owner, write.fence)) {
      return { op: "index", written: [], fenced: true, released: false };
    }
    const table = embeddings.table ?? embeddings.create(write.vectorSpace, transaction);
    const written = write.items.filter((item) => this.#write(item, lane, table, transaction)).map(({ key }) => key);
    const released = write.release && !this.#waits(lane, transaction.now);
    if (released) leases.end(lane.key, transaction);
    return { op: "index", written, fenced: false, released };
  }

  /** False if the item, or one that it borrowed from, has changed since it was embedded. */
  #write(embedded: EmbeddedItem, lane: LaneRow, table: VectorTable, transaction: Transaction): boolean {
    const find = ({ key, version }: { readonly key: number; readonly version: number }) =>
      this.#item.get(transaction.now, key, version);
    const row = find(embedded);
    if (!row || !isIn(lane, row) || !embedded.borrowed.every(find)) return false;
    this.#parts.embeddings.put(row as unknown as Embeddable, embedded, table, transaction);
    this.#parts.parking.clear(embedded.key);
    this.#indexed.run(embedded.key);
    return true;
  }

  #waits(lane: LaneRow, now: number): boolean {
    const { sql, values } = inLane(lane);
    const found = this.#statements.get(`SELECT 1 FROM item WHERE ${FRESH} AND ${WAITS} AND ${sql} LIMIT 1`);
    return found.get(now, ...values) !== undefined;
  }
}

/**
 * Throws if the vectors belong to another space than the file's. If the file has none, the first vectors written
 * decide.
 */
function requireVectorsOf({ vectorSpace, items }: IndexWrite, table: VectorTable | undefined): void {
  if (table && !isSameSpace(table.space, vectorSpace)) throw anotherVectorSpace(table.space, vectorSpace);
  requireLengths({ vectorSpace, items });
}

/** Throws if a vector does not have the length of its space. */
export function requireLengths({ vectorSpace, items }: Pick<IndexWrite, "vectorSpace" | "items">): void {
  for (const { key, spans, vectors } of items) {
    if (vectors.length === spans.length * vectorSpace.dimensions) continue;
    throw new HoldfastError("vector_space", `the vectors of an item are not of ${vectorSpace.dimensions} dimensions`, {
      hint: "the embedder gives other vectors than it says; nothing of this call was written",
      details: { key, chunks: spans.length, numbers: vectors.length, dimensions: vectorSpace.dimensions },
    });
  }
}

const isIn = (lane: LaneRow, row: Row): boolean => row["space"] === lane.space && row["session"] === lane.session;
