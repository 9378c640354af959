/**
 * One write transaction: what all units of a group share. It counts what changes per space and writes those counts,
 * the versions and the commit number once, at the end.
 */
import { HoldfastError } from "../../errors.js";
import { ANALYSIS_VERSION } from "../../retrieval/words/analyse.js";
import type { Database, Row, Statement } from "./driver.js";
import { newerFile, SCHEMA_VERSION } from "./schema.js";

interface Delta {
  items: number;
  terms: number;
}

/** Where an item goes: all keys; `round` is the sequence of the first item of its add. */
export interface Place {
  readonly space: number;
  readonly agent: number | null;
  readonly session: number | null;
  readonly sequence: number | null;
  readonly round: number | null;
}

export class Transaction {
  /** Places that adds of this transaction have looked up, by name, and the sequences that sessions have come to. */
  readonly #places = new Map<string, Place>();
  readonly #sequences = new Map<number, number>();
  readonly now: number;
  /** The number that this commit will have. */
  readonly commit: number;
  readonly #nextKey: { value: number };
  #spaces = new Map<number, Delta>();
  #unit = new Map<number, Delta>();
  #changed = false;
  #unitChanged = false;
  #purge = 0;
  #unitPurge = 0;
  #renamed = false;
  #unitRenamed = false;

  constructor(head: { readonly commit: number; readonly itemKey: number }, now: number) {
    this.now = now;
    this.commit = head.commit + 1;
    this.#nextKey = { value: head.itemKey };
  }

  /** A key no item has or ever had. Keys of a unit that fails are not given again; nobody misses them. */
  takeKey(): number {
    return ++this.#nextKey.value;
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
    const delta = this.#unit.get(space) ?? { items: 0, terms: 0 };
    this.#unit.set(space, { items: delta.items + items, terms: delta.terms + terms });
    this.#unitChanged = true;
  }

  /** A space has lost its name. */
  renamed(): void {
    this.#unitRenamed = true;
    this.#unitChanged = true;
  }

  /** Something was kept that no read shows. */
  kept(): void {
    this.#unitChanged = true;
  }

  /** Text was removed: 1, its bytes are to be checked; 2, its words are to be merged away first. */
  forgot(level: 1 | 2): void {
    this.#unitPurge = Math.max(this.#unitPurge, level);
  }

  endUnit(succeeded: boolean): void {
    if (!succeeded) this.forgetPlaces();
    if (succeeded) {
      for (const [space, delta] of this.#unit) {
        const sum = this.#spaces.get(space) ?? { items: 0, terms: 0 };
        this.#spaces.set(space, { items: sum.items + delta.items, terms: sum.terms + delta.terms });
      }
      this.#changed ||= this.#unitChanged;
      this.#purge = Math.max(this.#purge, this.#unitPurge);
      this.#renamed ||= this.#unitRenamed;
    }
    this.#unit = new Map();
    this.#unitChanged = false;
    this.#unitPurge = 0;
    this.#unitRenamed = false;
  }

  get changed(): boolean {
    return this.#changed;
  }

  get summary() {
    return { spaces: this.#spaces, itemKey: this.#nextKey.value, purge: this.#purge, renamed: this.#renamed };
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
      `UPDATE head SET commit_no = ?, item_key = ?, items = items + ?, purge = max(purge, ?),
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
    return new Transaction({ commit: Number(head["commit_no"]), itemKey: Number(head["item_key"]) }, now);
  }

  end(transaction: Transaction, writer: string, group: string): void {
    const { spaces, itemKey, purge, renamed } = transaction.summary;
    const { commit, now } = transaction;
    let items = 0;
    for (const [key, delta] of spaces) {
      items += delta.items;
      this.#space.run(commit, delta.items, delta.terms, key);
    }
    this.#write.run(commit, itemKey, items, purge, purge, now, purge, renamed ? 1 : 0, commit);
    this.#writer.run(writer, group, now);
  }
}
