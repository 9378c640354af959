/**
 * The rosters of spaces that are searched by words: loaded after they were asked for, kept as new as the file, the one
 * that was searched least recently dropped first when there are too many or they take more than their budget.
 *
 * Whoever has a snapshot calls `catchUp` first: then all rosters are as the file is on that snapshot, whichever process
 * made the changes. Loaded they are a page at a time, each on a snapshot of its own that they have caught up with; what
 * has changed since comes by `catchUp`. Nothing is kept of a space that has no roster.
 */
import { LRUCache } from "lru-cache";
import type { Database, Row, Statement } from "./driver.js";
import type { SpaceRow } from "./filter.js";
import { type Member, membersWhere, Roster, readMembers } from "./roster.js";

/** Items read at a time: half a millisecond. */
const PAGE = 64;
/** The file answers as fast for a space of fewer items, and there may be very many of those. */
const ITEMS_MIN = 64;
const ROSTERS_MAX = 1_000;
/** When more than this was changed or removed in their spaces, or written in any, all are loaded anew. */
const MISSED_MAX = 2_048;
const WRITTEN_MAX = 8_192;
/** What an item takes, about. */
const ITEM_BYTES = 320;
/** So often a space is asked before others make room for it; else those that do not fit together drive each other out. */
const ASKED_MIN = 8;

/** Which spaces may have one, and what all of them may take. */
export interface RosterLimits {
  readonly bytes: number;
  /** Spaces of fewer or more items have none. */
  readonly itemsMin?: number;
  readonly itemsMax?: number;
}

class Entry {
  readonly roster = new Roster();
  /** The key up to which it is loaded. */
  loadedTo = 0;

  get isReady(): boolean {
    return this.loadedTo === Infinity;
  }
}

export class Rosters {
  readonly #budget: number;
  readonly #itemsMin: number;
  readonly #itemsMax: number;
  readonly #head: Statement;
  readonly #page: Statement;
  readonly #written: Statement;
  readonly #changed: Statement;
  readonly #removed: Statement;
  /** By the key of the space, the least recently searched first. */
  readonly #entries = new Map<number, Entry>();
  /** Spaces whose rosters are not ready. */
  readonly #loading = new Set<number>();
  /** How often spaces were asked for which there was no room. */
  readonly #asked = new LRUCache<number, number>({ max: ROSTERS_MAX });
  /** Spaces that have turned out to be too large, and how many items did not fit. */
  readonly #tooLarge = new LRUCache<number, number>({ max: ROSTERS_MAX });
  /** The commit up to which the rosters know the file. */
  #cursor = 0;
  #bytes = 0;

  constructor(database: Database, { bytes, itemsMin = ITEMS_MIN, itemsMax = Infinity }: RosterLimits) {
    this.#budget = bytes;
    this.#itemsMin = itemsMin;
    this.#itemsMax = itemsMax;
    this.#head = database.prepare("SELECT commit_no, tombstone_floor FROM head");
    this.#page = database.prepare(membersWhere(`space = ? AND key > ? ORDER BY key LIMIT ${PAGE}`));
    const inSpaces = "space IN (SELECT value FROM json_each(?))";
    this.#changed = database.prepare(membersWhere(`commit_no > ? AND +${inSpaces} LIMIT ${MISSED_MAX + 1}`));
    this.#removed = database.prepare(
      `SELECT item, space FROM tombstone WHERE commit_no > ? AND ${inSpaces} LIMIT ${MISSED_MAX + 1}`,
    );
    this.#written = database.prepare(
      `SELECT count(*) AS items FROM (SELECT 1 FROM item WHERE commit_no > ? LIMIT ${WRITTEN_MAX + 1})`,
    );
  }

  /** Whether one is still to be loaded. */
  get isLoading(): boolean {
    return this.#loading.size > 0;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The roster of a space that is searched; undefined if it is not loaded, but then it will be, if it is worth it. */
  find({ key, items }: SpaceRow): Roster | undefined {
    const entry = this.#entries.get(key);
    if (!entry) {
      if (this.#fits(items) && this.#isWorthIt(key, items)) this.#begin(key);
      return undefined;
    }
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.isReady ? entry.roster : undefined;
  }

  /** Whether all that is to be known of a space's items is in memory, or so little that the file tells it as fast. */
  isAtHand(space: SpaceRow): boolean {
    return space.items < this.#itemsMin || this.find(space) !== undefined;
  }

  /** Takes over what was committed since. Requires a snapshot. */
  catchUp(): void {
    const head = this.#head.get() as Row;
    const commit = Number(head["commit_no"]);
    if (this.#cursor < Number(head["tombstone_floor"])) this.#clear();
    if (this.#entries.size > 0 && this.#cursor < commit) {
      if (Number(this.#written.get(this.#cursor)?.["items"]) > WRITTEN_MAX) this.#clear();
      else this.#takeOver();
    }
    this.#cursor = commit;
  }

  #takeOver(): void {
    const spaces = JSON.stringify([...this.#entries.keys()]);
    const removed = this.#removed.all(this.#cursor, spaces);
    const changed = readMembers(this.#changed.get(this.#cursor, spaces));
    if (removed.length > MISSED_MAX || changed.length > MISSED_MAX) {
      this.#clear();
      return;
    }
    for (const row of removed) this.#remove(Number(row["space"]), Number(row["item"]));
    for (const [space, member] of changed) this.#put(space, member);
  }

  /** Loads a page of one that is not ready. Requires a snapshot on which it has caught up. */
  loadPage(): void {
    const [space] = this.#loading;
    const entry = space === undefined ? undefined : this.#entries.get(space);
    if (space === undefined || !entry) return;
    const members = readMembers(this.#page.get(space, entry.loadedTo));
    entry.loadedTo = members.length < PAGE ? Infinity : Number(members.at(-1)?.[1].key);
    if (entry.isReady) this.#loading.delete(space);
    for (const [, member] of members) this.#put(space, member);
  }

  /** Whether a space is of the size that has a roster here. */
  #fits(items: number): boolean {
    return items >= this.#itemsMin && items <= this.#itemsMax;
  }

  /** Whether there is room for a space, or it is asked often enough for others to go. */
  #isWorthIt(space: number, items: number): boolean {
    if (items >= (this.#tooLarge.get(space) ?? Infinity) || items * ITEM_BYTES > this.#budget) return false;
    if (this.#bytes + items * ITEM_BYTES <= this.#budget) return true;
    const asked = (this.#asked.get(space) ?? 0) + 1;
    this.#asked.set(space, asked);
    return asked >= ASKED_MIN;
  }

  #begin(space: number): void {
    this.#asked.delete(space);
    this.#entries.set(space, new Entry());
    this.#loading.add(space);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > ROSTERS_MAX && oldest !== undefined) this.#drop(oldest);
  }

  #put(space: number, member: Member): void {
    const entry = this.#entries.get(space);
    if (!entry) return;
    const before = entry.roster.bytes;
    entry.roster.put(member);
    this.#bytes += entry.roster.bytes - before;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#budget) break;
      if (this.#entries.size === 1) this.#tooLarge.set(oldest, entry.roster.size); // it had all the room that there is
      this.#drop(oldest);
    }
  }

  #remove(space: number, key: number): void {
    const roster = this.#entries.get(space)?.roster;
    if (!roster) return;
    const before = roster.bytes;
    roster.remove(key);
    this.#bytes += roster.bytes - before;
  }

  #drop(space: number): void {
    this.#bytes -= this.#entries.get(space)?.roster.bytes ?? 0;
    this.#entries.delete(space);
    this.#loading.delete(space);
  }

  #clear(): void {
    for (const space of [...this.#entries.keys()]) this.#drop(space);
  }
}
