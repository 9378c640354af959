/** Adds, edits and removes items inside a write transaction. */
import { isDeepStrictEqual } from "node:util";
import { HoldfastError } from "../../../errors.js";
import type { Item, Kind, Role } from "../../../types.js";
import { notEditable, takenByFact } from "../../fact-rules.js";
import { Gone } from "../../gone.js";
import type { AddWrite, Done, NewRow, UpdateWrite } from "../../store.js";
import type { Embeddings } from "../embedding/embeddings.js";
import type { Parking } from "../embedding/parking.js";
import type { Database, Row, Statement } from "../file/driver.js";
import { ITEM_SELECT, jsonOrNull, kindCode, readItem, roleCode, tierCode } from "../rows/codec.js";
import { ITEM_ROW, type ItemRow, wordsOf } from "../rows/item-row.js";
import type { Receipts } from "../rows/receipts.js";
import type { Registry } from "../rows/registry.js";
import type { Residue } from "../rows/residue.js";
import type { ItemKeys, Transaction } from "../rows/transaction.js";
import type { How, WordWriter } from "../words/word-writer.js";
import { Cascade } from "./cascade.js";
import { FactRecords, isKept } from "./fact-records.js";

/** The components to update when an item's text is edited or removed. */
export interface Attached {
  readonly words: WordWriter;
  readonly embeddings: Embeddings;
  readonly parking: Parking;
  readonly residue: Residue;
  readonly receipts: Receipts;
}

interface Placed {
  readonly sequence: number | null;
  readonly inserted: boolean;
}

/** An edit, or a complete new version with kind, role and agent. */
type Rewrite = Omit<UpdateWrite["patch"], "role"> & {
  readonly kind?: Kind;
  readonly role?: Role | null;
  readonly agent?: number | null;
};

export class Items {
  readonly #words: WordWriter;
  readonly #attached: Attached;
  readonly #registry: Registry;
  readonly #facts: FactRecords;
  /** Spaces that have no facts, cached for the current transaction. */
  readonly #factless = new Set<number>();
  #factlessIn: Transaction | undefined;
  /** Forgets items with everything that depends on them. */
  readonly cascade: Cascade;
  readonly #insert: Statement;
  readonly #find: Statement;
  readonly #row: Statement;
  readonly #replace: Statement;
  readonly #delete: Statement;
  readonly #note: Statement;
  readonly #advance: Statement;

  constructor(database: Database, registry: Registry, attached: Attached) {
    this.#registry = registry;
    this.#attached = attached;
    this.#words = attached.words;
    this.#facts = new FactRecords(database);
    this.cascade = new Cascade(database, attached, (item, transaction, how) => this.remove(item, transaction, how));
    this.#insert = database.prepare(
      `INSERT INTO item (key, space, id, kind, session, agent, seq, round, role, name, content, parts, metadata, tier,
         occurred_at, recorded_at, updated_at, expires_at, version, space_version, words, length)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?) ON CONFLICT (id, space) DO NOTHING`,
    );
    this.#find = database.prepare(`${ITEM_SELECT} WHERE item.id = ? AND item.space = ?`);
    this.#row = database.prepare(`${ITEM_ROW} WHERE key = ?`);
    // An embedded item stays embedded if its text is unchanged.
    this.#replace = database.prepare(
      `UPDATE item SET kind = ?, agent = ?, role = ?, name = ?, content = ?, parts = ?, metadata = ?, tier = ?, occurred_at = ?,
         expires_at = ?, updated_at = ?, version = version + 1, space_version = ?, words = ?, length = ?,
         indexed = CASE WHEN ? AND indexed = version THEN version + 1 ELSE 0 END, parked = 0 WHERE key = ?`,
    );
    this.#delete = database.prepare("DELETE FROM item WHERE key = ?");
    this.#note = database.prepare(
      "REPLACE INTO change (commit_no, item, space, space_version, removed) VALUES (?, ?, ?, ?, ?)",
    );
    this.#advance = database.prepare("UPDATE session SET next_seq = ?, updated_at = ? WHERE key = ?");
  }

  /** Adds items. `of` is "fact" for the item of a recorded fact. */
  add(write: AddWrite, transaction: Transaction, of: "item" | "fact" = "item"): Done {
    if (write.items.length === 0) return { op: "add", ids: [], sequences: [], repeated: false };
    const place = this.#placeOf(write, transaction);
    // A fact occupies its id even when it no longer holds and so has no item. The fact's own item may use it.
    const hasFacts = of === "item" && this.#hasFacts(place.space, transaction);
    if (of === "fact") this.#factless.delete(place.space);
    let sequence = place.sequence ?? 0;
    let inserted = 0;
    const sequences: number[] = [];
    for (const row of write.items) {
      const here = { ...place, sequence: place.session === null ? null : sequence };
      const isFree = !hasFacts || !this.#facts.exists(row.id, place.space);
      const added = isFree ? this.#insertRow(row, here, transaction) : undefined;
      const existing = added ?? this.#meetExisting(write, row, here, of, transaction);
      if (existing.sequence !== null) sequences.push(existing.sequence);
      if (!existing.inserted) continue;
      inserted++;
      sequence++;
    }
    const repeated = inserted === 0 && write.existing === "same";
    if (place.session !== null && !repeated) {
      this.#advance.run(sequence, transaction.now, place.session);
      transaction.advance(place.session, sequence);
    }
    return { op: "add", ids: write.items.map(({ id }) => id), sequences, repeated };
  }

  /** Whether the space has facts. A transaction looks this up once per space without facts. */
  #hasFacts(space: number, transaction: Transaction): boolean {
    if (this.#factlessIn !== transaction) this.#factless.clear();
    this.#factlessIn = transaction;
    if (this.#factless.has(space)) return false;
    const any = this.#facts.anyIn(space);
    if (!any) this.#factless.add(space);
    return any;
  }

  /** Where the items go. Several adds to one session in one transaction look it up once. */
  #placeOf(write: AddWrite, transaction: Transaction): ItemKeys {
    const { space, session, agent } = write;
    if (write.existing === "replace" || write.continues !== undefined) return this.#findPlace(write, transaction);
    const name = JSON.stringify([space, session, agent]);
    const known = transaction.placeOf(name);
    if (known) return known;
    const place = this.#findPlace(write, transaction);
    if (agent === undefined || place.agent !== null) transaction.keepPlace(name, place);
    return place;
  }

  /** Registers the space, agent and session if they are new. */
  #findPlace(write: AddWrite, transaction: Transaction): ItemKeys {
    const registry = this.#registry;
    const space = registry.ensureSpace(write.space, transaction);
    const agent = this.#agentOf(write, space, transaction);
    if (agent !== null) registry.noteAgent(agent, space);
    if (write.session === undefined) return { space, agent, session: null, round: null, sequence: null };
    const session =
      registry.findSession(space, write.session) ?? registry.createSession(space, write.session, agent, transaction);
    const first = write.continues === undefined ? undefined : this.#find.get(write.continues, space);
    const round = typeof first?.["round"] === "number" ? first["round"] : session.nextSequence;
    return { space, agent, session: session.key, round, sequence: session.nextSequence };
  }

  /** The agent of an add. An add that only repeats existing items does not register a new agent. */
  #agentOf({ agent, existing, items }: AddWrite, space: number, transaction: Transaction): number | null {
    if (agent === undefined) return null;
    const found = this.#registry.findSpace({ agent });
    if (found) return found.key;
    const repeats = existing === "same" && items.every(({ id }) => this.find(id, space, transaction.now));
    return repeats ? null : this.#registry.ensureSpace({ agent }, transaction);
  }

  /** Undefined if the id is taken. */
  #insertRow(row: NewRow, place: ItemKeys, transaction: Transaction): Placed | undefined {
    const key = transaction.takeKey();
    const { counts, words, length } = wordsOf(row.name, row.content);
    const { now } = transaction;
    const { changes } = this.#insert.run(
      key,
      place.space,
      row.id,
      kindCode(row.kind),
      place.session,
      place.agent,
      place.sequence,
      place.round,
      row.role === undefined ? null : roleCode(row.role),
      row.name ?? null,
      row.content,
      jsonOrNull(row.parts),
      jsonOrNull(row.metadata),
      tierCode(row.tier),
      row.occurredAt,
      now,
      now,
      row.expiresAt ?? null,
      versionIn(place.space, transaction),
      words,
      length,
    );
    if (changes === 0) return undefined;
    this.#words.insert(key, place.space, counts, length);
    transaction.touch(place.space, 1, length);
    return { sequence: place.sequence, inserted: true };
  }

  /**
   * Handles a taken id. If its holder has expired, the id is free; otherwise the item is a repeat, a new version or a
   * conflict.
   */
  #meetExisting(write: AddWrite, row: NewRow, place: ItemKeys, of: "item" | "fact", transaction: Transaction): Placed {
    const found = this.find(row.id, place.space, transaction.now);
    const isFact = of === "item" && this.#facts.exists(row.id, place.space);
    if (isFact && (found ? write.existing === "replace" : this.#isEnded(row.id, place.space, transaction.now))) {
      throw takenByFact(row.id);
    }
    if (!found) {
      this.cascade.forget(row.id, place.space, transaction, "remove", new Gone());
      return this.#insertRow(row, place, transaction) as Placed;
    }
    const item = readItem(found);
    const replaceable = write.existing === "replace" && item.session === write.session;
    if (!replaceable && !samePayload(item, row, write.session)) {
      throw new HoldfastError("conflict", "an item with this id already exists with other content", {
        hint: "use update to change it, or another id to add",
        details: { id: row.id, version: item.version },
      });
    }
    if (replaceable) {
      const { role = null, name = null, parts = null, expiresAt = null, ...rest } = row;
      this.#rewrite(found, { ...rest, role, name, parts, expiresAt, agent: place.agent }, transaction);
    }
    return { sequence: item.sequence ?? null, inserted: false };
  }

  /** Whether a fact with this id is retained that no longer holds and so has no item. */
  #isEnded(id: string, space: number, now: number): boolean {
    const fact = this.#facts.find(id, space);
    return fact !== undefined && fact.state !== "holds" && isKept(fact, this.#registry.entry(space).retentionMs, now);
  }

  /** The item with this id, unless it has expired. */
  find(id: string, space: number, now: number): Row | undefined {
    const found = this.#find.get(id, space);
    if (!found) return undefined;
    const { expires_at: expiresAt, recorded_at: recordedAt, retention_ms: retentionMs } = found;
    if (expiresAt !== null && Number(expiresAt) <= now) return undefined;
    if (retentionMs !== null && Number(recordedAt) + Number(retentionMs) <= now) return undefined;
    return found;
  }

  /** Edits an item. `of` is "fact" when a fact write edits the fact's own item. */
  update(write: UpdateWrite, transaction: Transaction, of: "item" | "fact" = "item"): Done {
    const { content, name, metadata } = write.patch;
    const space = this.#registry.findSpace(write.space);
    const found = space && this.find(write.id, space.key, transaction.now);
    if (!found) {
      throw new HoldfastError("not_found", "there is no such item in this space", {
        hint: "check the id and the scope; the item may have been deleted or may have expired",
        details: { id: write.id },
      });
    }
    const isText = content !== undefined || name !== undefined || metadata !== undefined;
    if (of === "item" && isText && this.#facts.exists(write.id, space.key)) throw notEditable(write.id);
    const item = readItem(found);
    if (write.expectVersion !== undefined && write.expectVersion !== item.version) {
      throw new HoldfastError("conflict", "the item has changed in the meantime", {
        hint: "read it again and repeat the edit on its current version",
        details: { id: write.id, version: item.version },
      });
    }
    this.#rewrite(found, write.patch, transaction);
    return { op: "update", version: item.version + 1 };
  }

  #rewrite(found: Row, patch: Rewrite, transaction: Transaction): void {
    const key = Number(found["key"]);
    const old = this.#row.get(key) as ItemRow;
    const pick = <T>(value: T | undefined, column: string) => (value === undefined ? (found[column] ?? null) : value);
    const content = String(pick(patch.content, "content"));
    const name = pick(patch.name, "name") as string | null;
    const { counts, words, length } = wordsOf(name ?? undefined, content);
    const sameText = content === found["content"] && name === found["name"];
    if (!sameText) this.#attached.embeddings.remove(old, transaction, false);
    this.#attached.parking.clear(key);
    if (words !== old.words && this.#words.replace(old, counts, length) === "mark") transaction.forgot(2);
    this.#replace.run(
      patch.kind === undefined ? (found["kind"] ?? null) : kindCode(patch.kind),
      pick(patch.agent, "agent"),
      patch.role === undefined ? (found["role"] ?? null) : patch.role === null ? null : roleCode(patch.role),
      name,
      content,
      patch.content === undefined ? (found["parts"] ?? null) : jsonOrNull(patch.parts),
      patch.metadata === undefined ? (found["metadata"] ?? null) : jsonOrNull(patch.metadata),
      patch.tier === undefined ? (found["tier"] ?? null) : tierCode(patch.tier),
      pick(patch.occurredAt, "occurred_at"),
      pick(patch.expiresAt, "expires_at"),
      transaction.now,
      versionIn(old.space, transaction),
      words,
      length,
      sameText ? 1 : 0,
      key,
    );
    this.#noteChange(old, transaction, false);
    transaction.touch(old.space, 0, length - old.length);
  }

  /** How many tokens the end of the transaction will delete from the index immediately. */
  get wordsLeavingAtOnce(): number {
    return this.#words.leavingAtOnce;
  }

  #noteChange({ key, space }: ItemRow, transaction: Transaction, removed: boolean): void {
    this.#note.run(transaction.commit, key, space, versionIn(space, transaction), removed ? 1 : 0);
  }

  /** Removes an item from every table. Only numbers in `change` remain. */
  remove(item: ItemRow, transaction: Transaction, how: How = "remove"): void {
    const { embeddings, parking, residue } = this.#attached;
    if (this.#words.remove(item, how) === "mark") transaction.forgot(2);
    embeddings.remove(item, transaction, true);
    parking.clear(item.key);
    this.#delete.run(item.key);
    this.#noteChange(item, transaction, true);
    residue.remember(item);
    transaction.touch(item.space, -1, -item.length);
  }
}

/**
 * The version that this commit gives the space. 0 if the space is gone, which happens only while repairing a damaged
 * file.
 */
const versionIn = (space: number, transaction: Transaction): number => transaction.versionOf(space)?.version ?? 0;

/** Whether an add repeats an existing item. Ignores times, agent and the order of metadata keys. */
function samePayload(item: Item, row: NewRow, session: string | undefined): boolean {
  const of = ({ kind, role, name, content, parts, metadata, tier }: Item | NewRow) =>
    [kind, role, name, content, tier, metadata, parts?.length ? parts : undefined] as const;
  return item.session === session && isDeepStrictEqual(of(item), of(row));
}
