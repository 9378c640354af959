/**
 * One write transaction: what all units of a group share. It counts what changes per space and writes those counts,
 * the versions and the commit number once, at the end.
 */
import { HoldfastError } from "../../errors.js";
import { ANALYSIS_VERSION } from "../../retrieval/words/analyse.js";
import type { Database, Row, Statement } from "./driver.js";
import { newerFile, SCHEMA_VERSION } from "./schema.js";

interface Delta {
  readonly items: number;
  readonly terms: number;
}

/** Of one vector space. */
interface Vectors {
  readonly items: number;
  readonly chunks: number;
}

/** Where an item goes: all keys; `round` is the sequence of the first item of its add. */
export interface Place {
  readonly space: number;
  readonly agent: number | null;
  readonly session: number | null;
  readonly sequence: number | null;
  readonly round: number | null;
}

/** What has changed: in one unit, or in all units that have succeeded so far. */
class Tally {
  readonly spaces = new Map<number, Delta>();
  changed = false;
  purge = 0;
  renamed = false;
  readonly vectors = new Map<number, Vectors>();

  add(space: number, items: number, terms: number): void {
    const sum = this.spaces.get(space) ?? { items: 0, terms: 0 };
    this.spaces.set(space, { items: sum.items + items, terms: sum.terms + terms });
  }

  include(unit: Tally): void {
    for (const [space, { items, terms }] of unit.spaces) this.add(space, items, terms);
    this.changed ||= unit.changed;
    this.purge = Math.max(this.purge, unit.purge);
    this.renamed ||= unit.renamed;
    for (const [vectorSpace, { items, chunks }] of unit.vectors) this.addVectors(vectorSpace, items, chunks);
  }

  addVectors(vectorSpace: number, items: number, chunks: number): void {
    const sum = this.vectors.get(vectorSpace) ?? { items: 0, chunks: 0 };
    this.vectors.set(vectorSpace, { items: sum.items + items, chunks: sum.chunks + chunks });
  }
}

export class Transaction {
  /** Places that adds of this transaction have looked up, by name, and the sequences that sessions have come to. */
  readonly #places = new Map<string, Place>();
  readonly #sequences = new Map<number, number>();
  readonly now: number;
  /** The number that this commit will have. */
  readonly commit: number;
  #itemKey: number;
  #fence: number;
  readonly #total = new Tally();
  #unit = new Tally();

  constructor(head: { readonly commit: number; readonly itemKey: number; readonly fence: number }, now: number) {
    this.now = now;
    this.commit = head.commit + 1;
    this.#itemKey = head.itemKey;
    this.#fence = head.fence;
  }

  /** A key no item has or ever had. Keys of a unit that fails are not given again; nobody misses them. */
  takeKey(): number {
    return ++this.#itemKey;
  }

  /** A number above all fences and beats that were ever given. */
  takeFence(): number {
    return ++this.#fence;
  }

  /** A place that an add of this transaction has looked up before, as it is by now. */
  placeOf(name: string): Place | undefined {
    const place = this.#places.get(name);
    if (!place || place.session === null) return place;
    const sequence = this.#sequences.get(place.session) ?? place.sequence;
    return { ...place, sequence, round: sequence };
  }

  keepPlace(name: string, place: Place): void {
    this.#places.set(name, place);
  }

  /** The session has come to this sequence. */
  advance(session: number, sequence: number): void {
    this.#sequences.set(session, sequence);
  }

  /** What was looked up may have changed. */
  forgetPlaces(): void {
    this.#places.clear();
    this.#sequences.clear();
  }

  /** Something changed that readers of this space may see. */
  touch(space: number, items = 0, terms = 0): void {
    this.#unit.add(space, items, terms);
    this.#unit.changed = true;
  }

  /** An item has got or lost its vectors of this vector space. */
  embedded(vectorSpace: number, items: 1 | -1, chunks: number): void {
    this.#unit.addVectors(vectorSpace, items, items * chunks);
  }

  /** A space has lost its name. */
  renamed(): void {
    this.#unit.renamed = true;
    this.#unit.changed = true;
  }

  /** Something was kept that no read shows. */
  kept(): void {
    this.#unit.changed = true;
  }

  /** Text was removed: 1, its bytes are to be checked; 2, its words are to be merged away first. */
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
    const { spaces, vectors, purge, renamed } = this.#total;
    return { spaces, vectors, purge, renamed, itemKey: this.#itemKey, fence: this.#fence };
  }
}

/** The head of the file: read when a transaction begins, written when it ends. */
export class Head {
  readonly #path: string;
  readonly #read: Statement;
  readonly #write: Statement;
  readonly #space: Statement;
  readonly #vectors: Statement;
  readonly #nextVectors: Statement;
  readonly #writer: Statement;

  constructor(database: Database, path: string) {
    this.#path = path;
    this.#read = database.prepare("SELECT * FROM head");
    this.#write = database.prepare(
      `UPDATE head SET commit_no = ?, item_key = ?, fence = ?, items = items + ?, purge = max(purge, ?),
       purge_since = CASE WHEN ? > 0 AND purge = 0 THEN ? ELSE purge_since END,
       unpurged = unpurged + (? > 0),
       names_floor = CASE WHEN ? THEN ? ELSE names_floor END`,
    );
    this.#space = database.prepare("UPDATE space SET version = ?, items = items + ?, terms = terms + ? WHERE key = ?");
    this.#vectors = database.prepare(
      "UPDATE head SET embedded = embedded + ?, chunks = chunks + ? WHERE vector_space = ?",
    );
    this.#nextVectors = database.prepare(
      "UPDATE head SET next_embedded = next_embedded + ?, next_chunks = next_chunks + ? WHERE next_space = ?",
    );
    this.#writer = database.prepare("REPLACE INTO writer (id, grp, at) VALUES (?, ?, ?)");
  }

  read(): Row {
    return this.#read.get() as Row;
  }

  /** Requires an open transaction. Refuses a file that another process has meanwhile taken to a newer version. */
  begin(now: number): Transaction {
    const head = this.read();
    if (Number(head["schema"]) !== SCHEMA_VERSION) throw newerFile(this.#path, Number(head["schema"]));
    if (Number(head["analysis"]) !== ANALYSIS_VERSION) {
      throw new HoldfastError("store_newer", "the words of this file were re-indexed by another version of Holdfast", {
        hint: "run the same version in every process, and open the file again",
      });
    }
    const [commit, itemKey, fence] = [Number(head["commit_no"]), Number(head["item_key"]), Number(head["fence"])];
    return new Transaction({ commit, itemKey, fence }, now);
  }

  end(transaction: Transaction, writer: string, group: string): void {
    const { spaces, vectors, itemKey, fence, purge, renamed } = transaction.summary;
    const { commit, now } = transaction;
    let items = 0;
    for (const [key, delta] of spaces) {
      items += delta.items;
      this.#space.run(commit, delta.items, delta.terms, key);
    }
    for (const [key, { items, chunks }] of vectors) {
      this.#vectors.run(items, chunks, key);
      this.#nextVectors.run(items, chunks, key);
    }
    const counts = [commit, itemKey, fence, items] as const;
    this.#write.run(...counts, purge, purge, now, purge, renamed ? 1 : 0, commit);
    if (group !== "") this.#writer.run(writer, group, now);
  }
}
