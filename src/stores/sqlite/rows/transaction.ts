/**
 * One write transaction, shared by all units of a group. It counts the changes per space, and writes the counts, the
 * new space versions and the commit number once, at the end.
 */
import { HoldfastError } from "../../../errors.js";
import { ANALYSIS_VERSION } from "../../../retrieval/words/analyse.js";
import { timeInUse } from "../../receipts.js";
import type { SpaceVersion } from "../../store.js";
import type { Database, Row, Statement } from "../file/driver.js";
import { newerFile, SCHEMA_VERSION } from "../file/schema.js";

interface Delta {
  readonly items: number;
  readonly terms: number;
}

/** Counts of one vector space. */
interface Vectors {
  readonly items: number;
  readonly chunks: number;
}

/** The keys under which an item is stored. `round` is the sequence of the first item of its add. */
export interface ItemKeys {
  readonly space: number;
  readonly agent: number | null;
  readonly session: number | null;
  readonly sequence: number | null;
  readonly round: number | null;
}

/** The changes of one unit, or of all units that have succeeded so far. */
class Tally {
  readonly spaces = new Map<number, Delta>();
  changed = false;
  purge = 0;
  readonly vectors = new Map<number, Vectors>();

  add(space: number, items: number, terms: number): void {
    const sum = this.spaces.get(space) ?? { items: 0, terms: 0 };
    this.spaces.set(space, { items: sum.items + items, terms: sum.terms + terms });
  }

  include(unit: Tally): void {
    for (const [space, { items, terms }] of unit.spaces) this.add(space, items, terms);
    this.changed ||= unit.changed;
    this.purge = Math.max(this.purge, unit.purge);
    for (const [vectorSpace, { items, chunks }] of unit.vectors) this.addVectors(vectorSpace, items, chunks);
  }

  addVectors(vectorSpace: number, items: number, chunks: number): void {
    const sum = this.vectors.get(vectorSpace) ?? { items: 0, chunks: 0 };
    this.vectors.set(vectorSpace, { items: sum.items + items, chunks: sum.chunks + chunks });
  }
}

export class Transaction {
  /** Places that adds of this transaction have looked up, by name, and the current sequences of sessions. */
  readonly #places = new Map<string, ItemKeys>();
  readonly #sequences = new Map<number, number>();
  /** The versions that this commit gives to spaces, as far as they were requested. */
  readonly #versions = new Map<number, SpaceVersion>();
  readonly #versionOf: (space: number) => SpaceVersion | undefined;
  readonly now: number;
  /** The number that this commit will have in the file. */
  readonly commit: number;
  /** The store's time in use, as of this commit. */
  readonly inUseMs: number;
  #itemKey: number;
  #fence: number;
  readonly #total = new Tally();
  #unit = new Tally();

  /** `versionOf` returns the version of a space before this commit, or undefined if it does not exist. */
  constructor(head: Row, now: number, versionOf: (space: number) => SpaceVersion | undefined) {
    this.now = now;
    this.#versionOf = versionOf;
    this.commit = Number(head["commit_no"]) + 1;
    this.inUseMs = inUseOf(head, now);
    this.#itemKey = Number(head["item_key"]);
    this.#fence = Number(head["fence"]);
  }

  /** A key that no item has or ever had. Keys taken by a unit that fails are not reused. */
  takeKey(): number {
    return ++this.#itemKey;
  }

  /** A number higher than all fencing numbers and heartbeats issued so far. */
  takeFence(): number {
    return ++this.#fence;
  }

  /** A place that an add of this transaction looked up before, with the session's current sequence. */
  placeOf(name: string): ItemKeys | undefined {
    const place = this.#places.get(name);
    if (!place || place.session === null) return place;
    const sequence = this.#sequences.get(place.session) ?? place.sequence;
    return { ...place, sequence, round: sequence };
  }

  keepPlace(name: string, place: ItemKeys): void {
    this.#places.set(name, place);
  }

  /** Records the session's current sequence. */
  advance(session: number, sequence: number): void {
    this.#sequences.set(session, sequence);
  }

  /** Discards cached lookups, because they may have changed. */
  forgetPlaces(): void {
    this.#places.clear();
    this.#sequences.clear();
    this.#versions.clear();
  }

  /** The version that this commit gives to a space if it changes it. Undefined if the space does not exist. */
  versionOf(space: number): SpaceVersion | undefined {
    const known = this.#versions.get(space);
    if (known) return known;
    const before = this.#versionOf(space);
    if (before) this.startFrom(space, before);
    return this.#versions.get(space);
  }

  /** Sets the version of a space before this commit, if the caller has read it already. */
  startFrom(space: number, { id, version }: SpaceVersion): void {
    if (!this.#versions.has(space)) this.#versions.set(space, { id, version: version + 1 });
  }

  /** Records a change that readers of this space may see. */
  touch(space: number, items = 0, terms = 0): void {
    this.#unit.add(space, items, terms);
    this.#unit.changed = true;
  }

  /** Records that an item gained or lost its vectors of this vector space. */
  embedded(vectorSpace: number, items: 1 | -1, chunks: number): void {
    this.#unit.addVectors(vectorSpace, items, items * chunks);
  }

  /** Records a change that no read shows. */
  kept(): void {
    this.#unit.changed = true;
  }

  /**
   * Records that text was removed. Level 1: a purge must check its bytes. Level 2: it must first merge its words away.
   */
  forgot(level: 1 | 2): void {
    this.#unit.purge = Math.max(this.#unit.purge, level);
  }

  endUnit(succeeded: boolean): void {
    if (succeeded) this.#total.include(this.#unit);
    else this.forgetPlaces();
    this.#unit = new Tally();
  }

  get changed(): boolean {
    return this.#total.changed;
  }

  get summary() {
    const { spaces, vectors, purge } = this.#total;
    return { spaces, vectors, purge, itemKey: this.#itemKey, fence: this.#fence };
  }
}

/** The head of the file: read when a transaction begins, written when it ends. */
export class Head {
  readonly #path: string;
  readonly #read: Statement;
  readonly #write: Statement;
  readonly #version: Statement;
  readonly #space: Statement;
  readonly #vectors: Statement;
  readonly #nextVectors: Statement;
  readonly #othersGroup: Statement;
  readonly #group: Statement;

  constructor(database: Database, path: string) {
    this.#path = path;
    this.#read = database.prepare("SELECT * FROM head");
    this.#write = database.prepare(
      `UPDATE head SET commit_no = ?, item_key = ?, fence = ?, items = items + ?, in_use_ms = ?, used_at = ?,
       purge = max(purge, ?),
       purge_since = CASE WHEN ? > 0 AND purge = 0 THEN ? ELSE purge_since END,
       unpurged = unpurged + (? > 0)`,
    );
    this.#version = database.prepare("SELECT id, version FROM space WHERE key = ?");
    this.#space = database.prepare("UPDATE space SET version = ?, items = items + ?, terms = terms + ? WHERE key = ?");
    this.#vectors = database.prepare(
      "UPDATE head SET embedded = embedded + ?, chunks = chunks + ? WHERE vector_space = ?",
    );
    this.#nextVectors = database.prepare(
      "UPDATE head SET next_embedded = next_embedded + ?, next_chunks = next_chunks + ? WHERE next_space = ?",
    );
    this.#othersGroup = database.prepare(
      `REPLACE INTO writer (id, grp, in_use_ms) SELECT last_writer, last_group, in_use_ms FROM head
       WHERE last_writer <> ?`,
    );
    this.#group = database.prepare("UPDATE head SET last_writer = ?, last_group = ?");
  }

  read(): Row {
    return this.#read.get() as Row;
  }

  /** Requires an open transaction. Throws if another process has since migrated the file to a newer version. */
  begin(now: number): Transaction {
    const head = this.read();
    if (Number(head["schema"]) !== SCHEMA_VERSION) throw newerFile(this.#path, Number(head["schema"]));
    if (Number(head["analysis"]) !== ANALYSIS_VERSION) {
      throw new HoldfastError("store_newer", "the words of this file were re-indexed by another version of Holdfast", {
        hint: "run the same version in every process, and open the file again",
      });
    }
    return new Transaction(head, now, (space) => {
      const row = this.#version.get(space);
      return row && { id: String(row["id"]), version: Number(row["version"]) };
    });
  }

  /** Returns the spaces that changed and still exist, each with its new version. */
  end(transaction: Transaction, writer: string, group: string): readonly SpaceVersion[] {
    const { spaces, vectors, itemKey, fence, purge } = transaction.summary;
    const { commit, now, inUseMs } = transaction;
    const versions: SpaceVersion[] = [];
    let items = 0;
    for (const [key, delta] of spaces) {
      items += delta.items;
      const version = transaction.versionOf(key);
      if (!version) continue;
      this.#space.run(version.version, delta.items, delta.terms, key);
      versions.push(version);
    }
    for (const [key, { items, chunks }] of vectors) {
      this.#vectors.run(items, chunks, key);
      this.#nextVectors.run(items, chunks, key);
    }
    const counts = [commit, itemKey, fence, items, inUseMs, now] as const;
    this.#write.run(...counts, purge, purge, now, purge);
    if (group !== "") {
      this.#othersGroup.run(writer);
      this.#group.run(writer, group);
    }
    return versions;
  }
}

/** The store's time in use at `now`. */
export const inUseOf = (head: Row, now: number): number =>
  timeInUse({ inUseMs: Number(head["in_use_ms"]), usedAt: Number(head["used_at"]) }, now);
