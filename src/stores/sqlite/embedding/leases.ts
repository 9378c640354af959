/**
 * Leases inside a write transaction: which process may embed the items of a lane, and which one drains the outbox.
 *
 * Invariants: the owner of a lease is always registered. Fencing numbers and heartbeats come from one counter that only
 * increases, so an evicted owner that returns is never mistaken for its former self. No clock is involved.
 */
import {
  type BeatWrite,
  type Claim,
  type ClaimWrite,
  type Holder,
  type IndexingDone,
  type Lane,
  OUTBOX,
  type Owner,
  type ReleaseWrite,
} from "../../indexing.js";
import type { Database, Row, Statement } from "../file/driver.js";
import { findLane, OUTBOX_LANE } from "../rows/lanes.js";
import type { Registry } from "../rows/registry.js";
import type { Transaction } from "../rows/transaction.js";

export class Leases {
  readonly #registry: Registry;
  readonly #find: Statement;
  readonly #take: Statement;
  readonly #end: Statement;
  readonly #endAll: Statement;
  readonly #endOfSpace: Statement;
  readonly #owner: Statement;
  readonly #beat: Statement;
  readonly #dropOwner: Statement;

  constructor(database: Database, registry: Registry) {
    this.#registry = registry;
    this.#find = database.prepare(
      "SELECT lease.fence, owner.id, owner.process, owner.beat FROM lease JOIN owner ON owner.id = lease.owner WHERE lane = ?",
    );
    this.#take = database.prepare("REPLACE INTO lease (lane, owner, fence) VALUES (?, ?, ?)");
    this.#end = database.prepare("DELETE FROM lease WHERE lane = ?");
    this.#endAll = database.prepare("DELETE FROM lease WHERE owner = ?");
    this.#endOfSpace = database.prepare(
      "DELETE FROM lease WHERE lane = -?1 OR lane IN (SELECT key FROM session WHERE space = ?1)",
    );
    this.#owner = database.prepare("SELECT beat FROM owner WHERE id = ?");
    this.#beat = database.prepare("REPLACE INTO owner (id, process, beat) VALUES (?, ?, ?)");
    this.#dropOwner = database.prepare("DELETE FROM owner WHERE id = ?");
  }

  claim({ owner, lanes, evict }: ClaimWrite, transaction: Transaction): IndexingDone {
    for (const { owner: other, beat } of evict) if (this.#beatOf(other) === beat) this.#evict(other);
    this.#show(owner, transaction);
    return { op: "claim", claims: lanes.map((lane) => this.#claim(lane, owner.id, transaction)) };
  }

  #claim(lane: Lane | typeof OUTBOX, owner: string, transaction: Transaction): Claim {
    const key = this.#laneKey(lane);
    if (key === undefined) return { gone: true };
    const lease = this.#find.get(key);
    if (lease?.["id"] === owner) return { fence: Number(lease["fence"]) };
    if (lease) return { holder: readHolder(lease) };
    const fence = transaction.takeFence();
    this.#take.run(key, owner, fence);
    return { fence };
  }

  beat({ owner }: BeatWrite, transaction: Transaction): IndexingDone {
    const alive = this.#beatOf(owner.id) !== undefined;
    if (alive) this.#show(owner, transaction);
    return { op: "beat", alive };
  }

  release({ owner, lanes }: ReleaseWrite, transaction: Transaction): IndexingDone {
    if (!lanes) this.#evict(owner);
    for (const lane of lanes ?? []) {
      const key = this.#laneKey(lane);
      if (key !== undefined && this.#find.get(key)?.["id"] === owner) this.#end.run(key);
    }
    transaction.kept();
    return { op: "release" };
  }

  holds(lane: number, owner: string, fence: number): boolean {
    const lease = this.#find.get(lane);
    return lease?.["id"] === owner && lease["fence"] === fence;
  }

  /** Ends the lease of a lane, regardless of its holder. */
  end(lane: number, transaction: Transaction): void {
    this.#end.run(lane);
    transaction.kept();
  }

  /** Ends the leases of all lanes of the space. Requires that its sessions still exist. */
  endOfSpace(space: number): void {
    this.#endOfSpace.run(space);
  }

  #show({ id, process }: Owner, transaction: Transaction): void {
    this.#beat.run(id, process, transaction.takeFence());
    transaction.kept();
  }

  #evict(owner: string): void {
    this.#endAll.run(owner);
    this.#dropOwner.run(owner);
  }

  #beatOf(owner: string): number | undefined {
    const row = this.#owner.get(owner);
    return row && Number(row["beat"]);
  }

  #laneKey(lane: Lane | typeof OUTBOX): number | undefined {
    return lane === OUTBOX ? OUTBOX_LANE : findLane(this.#registry, lane)?.key;
  }
}

/** Requires the columns of `owner`. */
export const readHolder = (row: Row): Holder => ({
  id: String(row["id"]),
  process: String(row["process"]),
  beat: Number(row["beat"]),
});
