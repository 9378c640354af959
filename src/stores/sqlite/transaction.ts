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
  embedded = 0;
  chunks = 0;

  add(space: number, items: number, terms: number): void {
    const sum = this.spaces.get(space) ?? { items: 0, terms: 0 };
    this.spaces.set(space, { items: sum.items + items, terms: sum.terms + terms });
  }

  include(unit: Tally): void {
    for (const [space, { items, terms }] of unit.spaces) this.add(space, items, terms);
    this.changed ||= unit.changed;
    this.purge = Math.max(this.purge, unit.purge);
    this.renamed ||= unit.renamed;
    this.embedded += unit.embedded;
    this.chunks += unit.chunks;
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

  /** Items have got or lost their vectors. */
  embedded(items: 1 | -1, chunks: number): void {
    this.#unit.embedded += items;
    this.#unit.chunks += items * chunks;
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
    const { spaces, purge, renamed, embedded, chunks } = this.#total;
    return { spaces, purge, renamed, embedded, chunks, itemKey: this.#itemKey, fence: this.#fence };
  }
}

/** The head of the file: read when a transaction begins, written when it ends. */
export class Head {
  readonly #path: string;
  readonly #read: Statement;
  readonly #write: Statement;
  readonly #space: Statement;
  readonly #writer: Statement;

  constructor(database: Database, path: string) {
    this.#path = path;
    this.#read = database.prepare("SELECT * FROM head");
    this.#write = database.prepare(
      `UPDATE head SET commit_no = ?, item_key = ?, fence = ?, embedded = embedded + ?, chunks = chunks + ?, items = items + ?, purge = max(purge, ?),
       purge_since = CASE WHEN ? > 0 AND purge = 0 THEN ? ELSE purge_since END,
       unpurged = unpurged + (? > 0),
       names_floor = CASE WHEN ? THEN ? ELSE names_floor END`,
    );
    this.#space = database.prepare("UPDATE space SET version = ?, items = items + ?, terms = terms + ? WHERE key = ?");
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
    const { spaces, itemKey, fence, embedded, chunks, purge, renamed } = transaction.summary;
    const { commit, now } = transaction;
    let items = 0;
    for (const [key, delta] of spaces) {
      items += delta.items;
      this.#space.run(commit, delta.items, delta.terms, key);
    }
    const counts = [commit, itemKey, fence, embedded, chunks, items] as const;
    this.#write.run(...counts, purge, purge, now, purge, renamed ? 1 : 0, commit);
    if (group !== "") this.#writer.run(writer, group, now);
  }
}
