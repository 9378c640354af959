/** Adding, editing and removing items inside a write transaction. */
import { HoldfastError } from "../../errors.js";
import { analyse, countTerms } from "../../retrieval/words/analyse.js";
import type { AddWrite, Done, NewRow, UpdateWrite } from "../store.js";
import { ITEM_SELECT, jsonOrNull, kindCode, packWords, readItem, roleCode, tierCode } from "./codec.js";
import type { Database, Row, Statement } from "./driver.js";
import type { Registry } from "./registry.js";
import type { Transaction } from "./transaction.js";
import type { WordWriter } from "./words.js";

/** How long an idempotency key answers for its add. */
const RECEIPT_MS = 7 * 24 * 60 * 60 * 1000;

/** What removing an item needs to know of it. */
export interface ItemRow {
  readonly key: number;
  readonly space: number;
  readonly session: number | null;
  readonly words: string;
  readonly length: number;
}

export const ITEM_ROW = "SELECT key, space, session, words, length, id, name, content, parts, metadata FROM item";

export class Items {
  readonly #words: WordWriter;
  readonly #registry: Registry;
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

  constructor(database: Database, registry: Registry, words: WordWriter) {
    this.#registry = registry;
    this.#words = words;
    this.#insert = database.prepare(
      `INSERT INTO item (key, space, id, kind, session, agent, seq, round, role, name, content, parts, metadata, tier,
         occurred_at, recorded_at, updated_at, expires_at, version, commit_no, words, length)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?) ON CONFLICT (id, space) DO NOTHING`,
    );
    this.#find = database.prepare(`${ITEM_SELECT} WHERE item.id = ? AND item.space = ?`);
    this.#row = database.prepare(`${ITEM_ROW} WHERE key = ?`);
    this.#replace = database.prepare(
      `UPDATE item SET role = ?, name = ?, content = ?, parts = ?, metadata = ?, tier = ?, occurred_at = ?,
         expires_at = ?, updated_at = ?, version = version + 1, commit_no = ?, words = ?, length = ? WHERE key = ?`,
    );
    this.#delete = database.prepare("DELETE FROM item WHERE key = ?");
    this.#bury = database.prepare("INSERT INTO tombstone (commit_no, item, space) VALUES (?, ?, ?)");
    this.#advance = database.prepare("UPDATE session SET next_seq = ?, updated_at = ? WHERE key = ?");
    this.#receipt = database.prepare("SELECT * FROM receipt WHERE space = ? AND session = ? AND key = ?");
    this.#keepReceipt = database.prepare("REPLACE INTO receipt VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    this.#emptyReceipts = database.prepare(
      "UPDATE receipt SET hash = '' WHERE space = ? AND session = ? AND first_item <= ? AND last_item >= ?",
    );
    this.#expireReceipts = database.prepare("DELETE FROM receipt WHERE at <= ?");
  }

  add(write: AddWrite, transaction: Transaction): Done {
    if (write.items.length === 0) return { op: "add", ids: [], sequences: [], repeated: false };
    const earlier = this.#earlierAnswer(write, transaction.now);
    if (earlier) return earlier;

    const space = this.#registry.ensureSpace(write.space, transaction.now);
    const agent =
      write.agent === undefined ? null : this.#registry.ensureSpace({ agent: write.agent }, transaction.now);
    const session =
      write.session === undefined
        ? undefined
        : (this.#registry.findSession(space, write.session) ??
          this.#registry.createSession(space, write.session, agent, transaction.now));

    const place = { space, agent, session: session?.key ?? null, round: session?.nextSequence ?? null };
    let sequence = session?.nextSequence ?? 0;
    let firstKey = 0;
    let lastKey = 0;
    const sequences: number[] = [];
    for (const row of write.items) {
      const key = transaction.takeKey();
      if (this.#insertRow(row, key, { ...place, sequence: session ? sequence : null }, transaction)) {
        firstKey ||= key;
        lastKey = key;
        if (session) sequences.push(sequence++);
      } else {
        const existing = this.#meetExisting(write, row, space, transaction);
        if (existing !== undefined) sequences.push(existing);
      }
    }
    const repeated = firstKey === 0 && write.existing === "same";
    if (session && !repeated) this.#advance.run(sequence, transaction.now, session.key);
    const ids = write.items.map(({ id }) => id);
    if (write.idempotency) {
      const { key, hash } = write.idempotency;
      const answer = [JSON.stringify(ids), JSON.stringify(sequences)] as const;
      this.#keepReceipt.run(space, place.session ?? 0, key, hash, ...answer, firstKey, lastKey, transaction.now);
      this.#expireReceipts.run(transaction.now - RECEIPT_MS);
      if (repeated) transaction.touchNothing();
    }
    return { op: "add", ids, sequences, repeated };
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

  /** False if the id is taken. */
  #insertRow(
    row: NewRow,
    key: number,
    place: {
      space: number;
      agent: number | null;
      session: number | null;
      sequence: number | null;
      round: number | null;
    },
    transaction: Transaction,
  ): boolean {
    const { words, length } = wordsOf(row.name, row.content);
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
    if (changes === 0) return false;
    this.#words.insert({ key, space: place.space, words, length });
    transaction.touch(place.space, 1, length);
    return true;
  }

  /** An item whose id is taken: the same again, a new version of it, or a conflict. Returns its sequence. */
  #meetExisting(write: AddWrite, row: NewRow, space: number, transaction: Transaction): number | undefined {
    const found = this.#find.get(row.id, space) as Row;
    const item = readItem(found);
    if (write.existing === "replace") {
      const { name = null, parts = null, expiresAt = null, ...rest } = row;
      this.#rewrite(found, { ...rest, name, parts, expiresAt }, transaction);
      return item.sequence;
    }
    const same =
      item.kind === row.kind &&
      item.role === row.role &&
      item.name === row.name &&
      item.content === row.content &&
      item.tier === row.tier &&
      item.session === write.session &&
      jsonOrNull(item.metadata) === jsonOrNull(row.metadata) &&
      jsonOrNull(item.parts) === jsonOrNull(row.parts);
    if (!same) {
      throw new HoldfastError("conflict", "an item with this id exists already with other content", {
        hint: "use update to change it, or another id to add",
        details: { id: row.id, version: item.version },
      });
    }
    return item.sequence;
  }

  update(write: UpdateWrite, transaction: Transaction): Done {
    const space = this.#registry.findSpace(write.space);
    const found = space && this.#find.get(write.id, space.key);
    const item = found && readItem(found);
    const gone =
      !item ||
      (item.expiresAt !== undefined && item.expiresAt <= transaction.now) ||
      (space.retentionMs !== null && item.recordedAt + space.retentionMs <= transaction.now);
    if (gone) {
      throw new HoldfastError("not_found", "there is no such item in this space", {
        hint: "check the id and the scope; it may have been deleted or have expired",
        details: { id: write.id },
      });
    }
    if (write.expectVersion !== undefined && write.expectVersion !== item.version) {
      throw new HoldfastError("conflict", "the item has changed meanwhile", {
        hint: "read it again and repeat the edit on its current version",
        details: { id: write.id, version: item.version },
      });
    }
    this.#rewrite(found, write.patch, transaction);
    return { op: "update", version: item.version + 1 };
  }

  #rewrite(found: Row, patch: UpdateWrite["patch"], transaction: Transaction): void {
    const key = Number(found["key"]);
    const old = this.#row.get(key) as unknown as ItemRow;
    const pick = <T>(value: T | undefined, column: string) => (value === undefined ? (found[column] ?? null) : value);
    const content = String(pick(patch.content, "content"));
    const name = pick(patch.name, "name") as string | null;
    const { words, length } = wordsOf(name ?? undefined, content);
    if (words !== old.words) {
      this.#words.remove(old);
      this.#words.insert({ key, space: old.space, words, length });
    }
    this.#replace.run(
      patch.role === undefined ? (found["role"] ?? null) : roleCode(patch.role),
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
      key,
    );
    transaction.touch(old.space, 0, length - old.length);
  }

  /** Takes an item out of every table; what remains is a number in `tombstone`. */
  remove(item: ItemRow, transaction: Transaction): void {
    this.#words.remove(item);
    this.#delete.run(item.key);
    this.#bury.run(transaction.commit, item.key, item.space);
    this.#emptyReceipts.run(item.space, item.session ?? 0, item.key, item.key);
    transaction.touch(item.space, -1, -item.length);
  }
}

function wordsOf(name: string | undefined, content: string): { words: string; length: number } {
  const counts = analyse(name === undefined ? content : `${name} ${content}`);
  return { words: packWords(counts), length: countTerms(counts) };
}
