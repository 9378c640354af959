/**
 * Facts inside a write transaction. A fact that holds has an item with its id. Only this class adds, edits and removes
 * that item, apart from forgetting. The rules are in fact-rules.ts, the rows in fact-records.ts.
 */

import type { SpaceRef } from "../../../types.js";
import {
  circularSource,
  closed,
  firstStanding,
  linkedSpans,
  noSuchFact,
  noSuchSession,
  noSuchSource,
  putAgain,
  refuseIfExtracted,
  refuseIfOtherwise,
  refuseSelfSuperseding,
  restoredSpans,
  type Standing,
  startOf,
  takenByItem,
} from "../../fact-rules.js";
import {
  type EndFactDone,
  type EndFactWrite,
  type ExtractedDone,
  type ExtractedWrite,
  factMetadata,
  type PutFactDone,
  type PutFactWrite,
  type RestoreFactDone,
  type RestoreFactWrite,
} from "../../facts.js";
import { Gone } from "../../gone.js";
import { Statements } from "../file/connection.js";
import type { Database, Statement } from "../file/driver.js";
import { type FactRecord, FactRecords, isKept, type SourceRow } from "../items/fact-records.js";
import type { Items } from "../items/items.js";
import { ITEM_ROW, type ItemRow } from "../rows/item-row.js";
import type { Registry } from "../rows/registry.js";
import type { Transaction } from "../rows/transaction.js";
import { FactReader } from "./fact-reader.js";

export class Facts {
  readonly #registry: Registry;
  readonly #items: Items;
  readonly #records: FactRecords;
  readonly #reader: FactReader;
  readonly #item: Statement;
  readonly #extracted: Statement;

  constructor(database: Database, registry: Registry, items: Items) {
    this.#registry = registry;
    this.#items = items;
    this.#records = new FactRecords(database);
    this.#reader = new FactReader(new Statements(database), registry);
    this.#item = database.prepare(`${ITEM_ROW} WHERE id = ? AND space = ?`);
    this.#extracted = database.prepare("UPDATE session SET extracted = ?1 WHERE key = ?2 AND extracted < ?1");
  }

  put(write: PutFactWrite, transaction: Transaction): PutFactDone {
    refuseSelfSuperseding(write);
    const known = this.#findKept(write.space, write.id, transaction);
    this.#checkSource(write, transaction.now);
    const superseded = [...new Set(write.supersedes)].map((id) => this.#require(write.space, id, transaction));
    if (known?.state === "retracted" && !write.force) {
      return { op: "put_fact", outcome: "retracted", fact: this.#reader.get(known.key), ended: [] };
    }
    const { key, outcome } = known ? this.#putAgain(known, write, transaction) : this.#add(write, transaction);
    const ended = superseded.filter(({ state }) => state === "holds");
    for (const fact of ended) this.#close(fact, closed(fact, "ended", write.from, key), transaction);
    return { op: "put_fact", outcome, fact: this.#reader.get(key), ended: ended.map(({ id }) => id) };
  }

  end({ space, id, as, at }: EndFactWrite, transaction: Transaction): EndFactDone {
    const known = this.#require(space, id, transaction);
    const isChange = as === "ended" ? known.state === "holds" : known.state !== "retracted";
    if (isChange) this.#close(known, closed(known, as, at), transaction);
    return { op: "end_fact", fact: this.#reader.get(known.key) };
  }

  restore(write: RestoreFactWrite, transaction: Transaction): RestoreFactDone {
    const { id, category, content, sources, expiresAt = null } = write;
    const { now } = transaction;
    const known = this.#findKept(write.space, id, transaction);
    const space = this.#registry.ensureSpace(write.space, transaction);
    const standing = { ...write, spans: restoredSpans(write.spans, (other) => this.#records.find(other, space)?.key) };
    if (known) {
      refuseIfOtherwise(known, write);
      const spans = linkedSpans(known.spans, standing.spans);
      if (spans === known.spans) return { op: "restore_fact", outcome: "unchanged" };
      this.#records.update(known, { ...known, spans }, known, now);
      transaction.touch(space);
      return { op: "restore_fact", outcome: "linked" };
    }
    if (this.#items.find(id, space, now)) throw takenByItem(id);
    for (const { message } of sources) {
      if (message !== undefined && this.#records.isCircular(message, space, id)) throw circularSource(message);
    }
    if (write.state === "holds") this.#addItem(write, { category, content, expiresAt }, standing, transaction);
    const key = this.#records.insert({ space, id, category, content }, standing, now);
    for (const source of sources) {
      this.#records.addSource(key, space, this.#sourceOf({ ...write, source }, space, transaction));
    }
    transaction.touch(space);
    return { op: "restore_fact", outcome: "added" };
  }

  noteExtracted({ space: ref, session, upTo, after }: ExtractedWrite, transaction: Transaction): ExtractedDone {
    const space = this.#registry.findSpace(ref);
    const found = space && this.#registry.findSession(space.key, session);
    if (!found) throw noSuchSession();
    refuseIfExtracted(this.#reader.extracted(ref, session), after);
    if (Number(this.#extracted.run(upTo, found.key).changes) > 0) transaction.kept();
    return { op: "extracted" };
  }

  /** The fact with this id, while it is retained. */
  find(space: SpaceRef, id: string, now: number): FactRecord | undefined {
    const found = this.#registry.findSpace(space);
    const fact = found && this.#records.find(id, found.key);
    if (!fact) return undefined;
    if (fact.state === "holds") return this.#items.find(id, found.key, now) && fact;
    return isKept(fact, found.retentionMs ?? undefined, now) ? fact : undefined;
  }

  /** The same, but forgets an expired fact, so that the id becomes free. */
  #findKept(space: SpaceRef, id: string, transaction: Transaction): FactRecord | undefined {
    const fact = this.find(space, id, transaction.now);
    const key = this.#registry.findSpace(space)?.key;
    if (fact || key === undefined || !this.#records.exists(id, key)) return fact;
    this.#items.cascade.forget(id, key, transaction, "remove", new Gone());
    return undefined;
  }

  #require(space: SpaceRef, id: string, transaction: Transaction): FactRecord {
    const fact = this.find(space, id, transaction.now);
    if (!fact) throw noSuchFact(id);
    return fact;
  }

  #checkSource({ space: ref, id, source: { message } }: PutFactWrite, now: number): void {
    if (message === undefined) return;
    const space = this.#registry.findSpace(ref);
    if (!space || !this.#items.find(message, space.key, now)) throw noSuchSource(message);
    if (this.#records.isCircular(message, space.key, id)) throw circularSource(message);
  }

  #add(write: PutFactWrite, transaction: Transaction): { readonly key: number; readonly outcome: "added" } {
    const { id, category, content } = write;
    const space = this.#registry.ensureSpace(write.space, transaction);
    if (this.#items.find(id, space, transaction.now)) throw takenByItem(id);
    const standing = firstStanding(write);
    this.#addItem(write, { category, content, expiresAt: null }, standing, transaction);
    const key = this.#records.insert({ space, id, category, content }, standing, transaction.now);
    this.#records.addSource(key, space, this.#sourceOf(write, space, transaction));
    return { key, outcome: "added" };
  }

  #putAgain(known: FactRecord, write: PutFactWrite, transaction: Transaction) {
    const { key, space } = known;
    const { now } = transaction;
    const isNewSource = this.#isNewSource(known, write);
    const after = putAgain(known, write);
    if (after === known && !isNewSource) return { key, outcome: "unchanged" } as const;
    if (write.agent !== undefined) this.#registry.ensureSpace({ agent: write.agent }, transaction);
    if (isNewSource) this.#records.addSource(key, space, this.#sourceOf(write, space, transaction));
    transaction.touch(space);
    if (known.state === "holds") {
      if (after !== known) this.#editItem(write, known, after, transaction);
      this.#records.update(known, after, known, now);
      return { key, outcome: "updated" } as const;
    }
    this.#addItem(write, known, after, transaction);
    this.#records.update(known, after, { keptFrom: now, expiresAt: null }, now);
    return { key, outcome: "revived" } as const;
  }

  #isNewSource({ key, space }: FactRecord, { source: { message, session } }: PutFactWrite): boolean {
    if (message !== undefined) return !this.#records.hasSource(key, { message });
    if (session === undefined) return !this.#records.hasSource(key, {});
    const found = this.#registry.findSession(space, session);
    return !found || !this.#records.hasSource(key, { session: found.key });
  }

  #sourceOf(
    { source: { message, session }, agent }: Pick<PutFactWrite, "source" | "agent">,
    space: number,
    transaction: Transaction,
  ): SourceRow {
    if (message !== undefined) return { message };
    if (session === undefined) return {};
    const found = this.#registry.findSession(space, session);
    if (found) return { session: found.key };
    const agentKey = agent === undefined ? null : this.#registry.ensureSpace({ agent }, transaction);
    return { session: this.#registry.createSession(space, session, agentKey, transaction).key };
  }

  #addItem(
    { space, agent, id }: Pick<PutFactWrite, "space" | "agent" | "id">,
    { category, content, expiresAt }: Pick<FactRecord, "category" | "content" | "expiresAt">,
    { confidence, spans }: Standing,
    transaction: Transaction,
  ): void {
    const item = {
      id,
      kind: "fact",
      content,
      metadata: factMetadata({ category, confidence }),
      tier: "semantic",
      occurredAt: startOf(spans),
      ...(expiresAt !== null && { expiresAt }),
    } as const;
    const add = {
      op: "add",
      space,
      ...(agent !== undefined && { agent }),
      items: [item],
      existing: "replace",
    } as const;
    this.#items.add(add, transaction, "fact");
  }

  #editItem({ space, id }: PutFactWrite, before: FactRecord, after: Standing, transaction: Transaction): void {
    const { category, confidence, spans } = before;
    const isMoved = startOf(after.spans) !== startOf(spans);
    if (!isMoved && after.confidence === confidence) return;
    const patch = {
      metadata: factMetadata({ category, confidence: after.confidence }),
      ...(isMoved && { occurredAt: startOf(after.spans) }),
    };
    this.#items.update({ op: "update", space, id, patch }, transaction, "fact");
  }

  /** Ends or retracts a fact. Its text stays, so there is nothing to purge. */
  #close(known: FactRecord, after: Standing, transaction: Transaction): void {
    const { id, space, keptFrom } = known;
    const item = this.#item.get(id, space) as ItemRow | undefined;
    if (item) this.#items.remove(item, transaction);
    const expiresAt = item ? item.expires_at : known.expiresAt;
    this.#records.update(known, after, { keptFrom, expiresAt }, transaction.now);
    transaction.touch(space);
  }
}
