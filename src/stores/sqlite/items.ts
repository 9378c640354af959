/** Adding, editing and removing items inside a write transaction. */
import { isDeepStrictEqual } from "node:util";
import { HoldfastError } from "../../errors.js";
import type { Item, Kind, Role } from "../../types.js";
import { notEditable, takenByFact } from "../fact-rules.js";
import { Gone } from "../gone.js";
import type { AddWrite, Done, NewRow, UpdateWrite } from "../store.js";
import { Cascade } from "./cascade.js";
import { ITEM_SELECT, jsonOrNull, kindCode, readItem, roleCode, tierCode } from "./codec.js";
import type { Database, Row, Statement } from "./driver.js";
import type { Embeddings } from "./embeddings.js";
import { FactRecords, isKept } from "./fact-records.js";
import { ITEM_ROW, type ItemRow, wordsOf } from "./item-row.js";
import type { Parking } from "./parking.js";
import type { Registry } from "./registry.js";
import type { Residue } from "./residue.js";
import type { Place, Transaction } from "./transaction.js";
import type { WordWriter } from "./words.js";

/** How long an idempotency key answers for its add. */
const RECEIPT_MS = 7 * 24 * 60 * 60 * 1000;

/** What goes with an item when its text is edited or removed. */
export interface Attached {
  readonly words: WordWriter;
  readonly embeddings: Embeddings;
  readonly parking: Parking;
  readonly residue: Residue;
}

interface Placed {
  readonly key: number;
  readonly sequence: number | null;
  readonly inserted: boolean;
}

/** An edit, or all of a new version: kind, role and agent included. */
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
  /** Spaces without any fact, as this transaction has found them. */
  readonly #factless = new Set<number>();
  #factlessIn: Transaction | undefined;
  /** Forgets items with all that goes with them. */
  readonly cascade: Cascade;
  readonly #insert: Statement;
  readonly #find: Statement;
  readonly #row: Statement;
  readonly #replace: Statement;
  readonly #delete: Statement;
  readonly #bury: Statement;
  readonly #advance: Statement;
  readonly #receipt: Statement;
  readonly #keepReceipt: Statement;
  readonly #emptyReceipts: Statement;
  readonly #expireReceipts: Statement;

  constructor(database: Database, registry: Registry, attached: Attached) {
    this.#registry = registry;
    this.#attached = attached;
    this.#words = attached.words;
    this.#facts = new FactRecords(database);
    this.cascade = new Cascade(database, attached.residue, (item, transaction, how) =>
      this.remove(item, transaction, how),
    );
    this.#insert = database.prepare(
      `INSERT INTO item (key, space, id, kind, session, agent, seq, round, role, name, content, parts, metadata, tier,
         occurred_at, recorded_at, updated_at, expires_at, version, commit_no, words, length)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?) ON CONFLICT (id, space) DO NOTHING`,
    );
    this.#find = database.prepare(`${ITEM_SELECT} WHERE item.id = ? AND item.space = ?`);
    this.#row = database.prepare(`${ITEM_ROW} WHERE key = ?`);
    // What was embedded stays so if its text is the same.
    this.#replace = database.prepare(
      `UPDATE item SET kind = ?, agent = ?, role = ?, name = ?, content = ?, parts = ?, metadata = ?, tier = ?, occurred_at = ?,
         expires_at = ?, updated_at = ?, version = version + 1, commit_no = ?, words = ?, length = ?,
         indexed = CASE WHEN ? AND indexed = version THEN version + 1 ELSE 0 END, parked = 0 WHERE key = ?`,
    );
    this.#delete = database.prepare("DELETE FROM item WHERE key = ?");
    this.#bury = database.prepare("INSERT INTO tombstone (commit_no, item, space) VALUES (?, ?, ?)");
    this.#advance = database.prepare("UPDATE session SET next_seq = ?, updated_at = ? WHERE key = ?");
    this.#receipt = database.prepare("SELECT * FROM receipt WHERE space = ? AND session = ? AND key = ?");
    this.#keepReceipt = database.prepare("REPLACE INTO receipt VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    this.#emptyReceipts = database.prepare(
      `UPDATE receipt SET hash = '' WHERE space = ? AND session = ? AND hash <> '' AND first_item <= ? AND last_item >= ?
         AND EXISTS (SELECT 1 FROM json_each(ids) WHERE value = ?)`,
    );
    this.#expireReceipts = database.prepare("DELETE FROM receipt WHERE at <= ?");
  }

  /** `of`: "fact" for the item of a recorded fact. */
  add(write: AddWrite, transaction: Transaction, of: "item" | "fact" = "item"): Done {
    if (write.items.length === 0) return { op: "add", ids: [], sequences: [], repeated: false };
    const earlier = this.#earlierAnswer(write, transaction.now);
    if (earlier) return earlier;

    const place = this.#placeOf(write, transaction);
    // The id of a fact is taken, also if it holds no longer and so has no item; but not for the fact itself.
    const hasFacts = of === "item" && this.#hasFacts(place.space, transaction);
    if (of === "fact") this.#factless.delete(place.space);
    let sequence = place.sequence ?? 0;
    let inserted = 0;
    const keys: number[] = [];
    const sequences: number[] = [];
    for (const row of write.items) {
      const here = { ...place, sequence: place.session === null ? null : sequence };
      const isFree = !hasFacts || !this.#facts.exists(row.id, place.space);
      const added = isFree ? this.#insertRow(row, here, transaction) : undefined;
      const existing = added ?? this.#meetExisting(write, row, here, of, transaction);
      keys.push(existing.key);
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
    const answer = { ids: write.items.map(({ id }) => id), sequences };
    if (write.idempotency) this.#keepAnswer(write.idempotency, place, answer, keys, transaction);
    return { op: "add", ...answer, repeated };
  }

  /** Whether the space may have facts. A transaction asks once for each space that has none. */
  #hasFacts(space: number, transaction: Transaction): boolean {
    if (this.#factlessIn !== transaction) this.#factless.clear();
    this.#factlessIn = transaction;
    if (this.#factless.has(space)) return false;
    const any = this.#facts.anyIn(space);
    if (!any) this.#factless.add(space);
    return any;
  }

  /** Where the items go. Adds to one session in one transaction look it up once. */
  #placeOf(write: AddWrite, transaction: Transaction): Place {
    const { space, session, agent } = write;
    if (write.existing === "replace" || write.continues !== undefined) return this.#findPlace(write, transaction);
    const name = JSON.stringify([space, session, agent]);
    const known = transaction.placeOf(name);
    if (known) return known;
    const place = this.#findPlace(write, transaction);
    if (agent === undefined || place.agent !== null) transaction.keepPlace(name, place);
    return place;
  }

  /** Space, agent and session are registered if they are new. */
  #findPlace(write: AddWrite, transaction: Transaction): Place {
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

  /** The agent of an add. A new one is not registered by an add that only repeats what is there. */
  #agentOf({ agent, existing, items }: AddWrite, space: number, transaction: Transaction): number | null {
    if (agent === undefined) return null;
    const found = this.#registry.findSpace({ agent });
    if (found) return found.key;
    const repeats = existing === "same" && items.every(({ id }) => this.find(id, space, transaction.now));
    return repeats ? null : this.#registry.ensureSpace({ agent }, transaction);
  }

  #keepAnswer(
    { key, hash }: { readonly key: string; readonly hash: string },
    { space, session }: Place,
    answer: { readonly ids: readonly string[]; readonly sequences: readonly number[] },
    keys: readonly number[],
    transaction: Transaction,
  ): void {
    const { ids, sequences } = answer;
    const range = [Math.min(...keys), Math.max(...keys)] as const;
    const texts = [JSON.stringify(ids), JSON.stringify(sequences)] as const;
    this.#keepReceipt.run(space, session ?? 0, key, hash, ...texts, ...range, transaction.now);
    this.#expireReceipts.run(transaction.now - RECEIPT_MS);
    transaction.kept();
  }

  /** The answer that the same idempotency key got before, if it is still kept. */
  #earlierAnswer({ space, session, idempotency }: AddWrite, now: number): Done | undefined {
    const spaceKey = idempotency && this.#registry.findSpace(space)?.key;
    if (!idempotency || spaceKey === undefined) return undefined;
    const sessionKey = session === undefined ? 0 : this.#registry.findSession(spaceKey, session)?.key;
    if (sessionKey === undefined) return undefined;
    const receipt = this.#receipt.get(spaceKey, sessionKey, idempotency.key);
    if (!receipt || Number(receipt["at"]) <= now - RECEIPT_MS) return undefined;
    if (receipt["hash"] !== "" && receipt["hash"] !== idempotency.hash) {
      throw new HoldfastError("conflict", "this idempotency key was used for another payload", {
        hint: "use a new key for a new call; a retry must repeat the call unchanged",
        details: { idempotencyKey: idempotency.key },
      });
    }
    return {
      op: "add",
      ids: JSON.parse(String(receipt["ids"])) as string[],
      sequences: JSON.parse(String(receipt["sequences"])) as number[],
      repeated: true,
    };
  }

  /** Undefined if the id is taken. */
  #insertRow(row: NewRow, place: Place, transaction: Transaction): Placed | undefined {
    const key = transaction.takeKey();
    const { counts, words, length } = wordsOf(row.name, row.content);
    const { now, commit } = transaction;
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
      commit,
      words,
      length,
    );
    if (changes === 0) return undefined;
    this.#words.insert(key, place.space, counts, length);
    transaction.touch(place.space, 1, length);
    return { key, sequence: place.sequence, inserted: true };
  }

  /** An id that is taken: free after all if what has it has expired; else the same again, a new version, or a conflict. */
  #meetExisting(write: AddWrite, row: NewRow, place: Place, of: "item" | "fact", transaction: Transaction): Placed {
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
      throw new HoldfastError("conflict", "an item with this id exists already with other content", {
        hint: "use update to change it, or another id to add",
        details: { id: row.id, version: item.version },
      });
    }
    if (replaceable) {
      const { role = null, name = null, parts = null, expiresAt = null, ...rest } = row;
      this.#rewrite(found, { ...rest, role, name, parts, expiresAt, agent: place.agent }, transaction);
    }
    return { key: Number(found["key"]), sequence: item.sequence ?? null, inserted: false };
  }

  /** Whether a fact of this id is kept that has no item. */
  #isEnded(id: string, space: number, now: number): boolean {
    const fact = this.#facts.find(id, space);
    return fact !== undefined && fact.state !== "holds" && isKept(fact, this.#registry.entry(space).retentionMs, now);
  }

  /** The item of this id, unless it has expired. */
  find(id: string, space: number, now: number): Row | undefined {
    const found = this.#find.get(id, space);
    if (!found) return undefined;
    const { expires_at: expiresAt, recorded_at: recordedAt, retention_ms: retentionMs } = found;
    if (expiresAt !== null && Number(expiresAt) <= now) return undefined;
    if (retentionMs !== null && Number(recordedAt) + Number(retentionMs) <= now) return undefined;
    return found;
  }

  /** `of`: "fact" for what a write of the fact changes of its item. */
  update(write: UpdateWrite, transaction: Transaction, of: "item" | "fact" = "item"): Done {
    const { content, name, metadata } = write.patch;
    const space = this.#registry.findSpace(write.space);
    const found = space && this.find(write.id, space.key, transaction.now);
    if (!found) {
      throw new HoldfastError("not_found", "there is no such item in this space", {
        hint: "check the id and the scope; it may have been deleted or have expired",
        details: { id: write.id },
      });
    }
    const isText = content !== undefined || name !== undefined || metadata !== undefined;
    if (of === "item" && isText && this.#facts.exists(write.id, space.key)) throw notEditable(write.id);
    const item = readItem(found);
    if (write.expectVersion !== undefined && write.expectVersion !== item.version) {
      throw new HoldfastError("conflict", "the item has changed meanwhile", {
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
    if (words !== old.words) this.#words.replace(old, counts, length);
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
      transaction.commit,
      words,
      length,
      sameText ? 1 : 0,
      key,
    );
    transaction.touch(old.space, 0, length - old.length);
  }

  /** Takes an item out of every table; what remains is a number in `tombstone`. */
  remove(item: ItemRow, transaction: Transaction, how: "remove" | "mark" = "remove"): void {
    const { embeddings, parking, residue } = this.#attached;
    this.#words.remove(item, how);
    embeddings.remove(item, transaction, true);
    parking.clear(item.key);
    this.#delete.run(item.key);
    this.#bury.run(transaction.commit, item.key, item.space);
    this.#emptyReceipts.run(item.space, item.session ?? 0, item.key, item.key, item.id);
    residue.remember(item);
    transaction.touch(item.space, -1, -item.length);
  }
}

/** Whether an add says again what is there: its times and agent do not count, nor does the order of metadata keys. */
function samePayload(item: Item, row: NewRow, session: string | undefined): boolean {
  const of = ({ kind, role, name, content, parts, metadata, tier }: Item | NewRow) =>
    [kind, role, name, content, tier, metadata, parts?.length ? parts : undefined] as const;
  return item.session === session && isDeepStrictEqual(of(item), of(row));
}
