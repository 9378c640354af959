/** Promotions inside a write transaction: copies with their log, and which copies still have both sides. */
import { startOf } from "../../fact-rules.js";
import { nothingToPromote, promotedRetracted, refuseIfOther, sameSpace } from "../../promotion-rules.js";
import type { PromoteDone, PromoteWrite, RestorePromotionDone, RestorePromotionWrite } from "../../promotions.js";
import type { Database, Row, Statement } from "../file/driver.js";
import type { FactRecord } from "../items/fact-records.js";
import type { Items } from "../items/items.js";
import { readItem } from "../rows/codec.js";
import type { Registry } from "../rows/registry.js";
import type { Residue } from "../rows/residue.js";
import type { Transaction } from "../rows/transaction.js";
import type { Facts } from "./facts.js";

/** The key of no space. */
const NOBODY = 0;

export class Promotions {
  readonly #registry: Registry;
  readonly #items: Items;
  readonly #facts: Facts;
  readonly #residue: Residue;
  readonly #log: Statement;
  readonly #note: Statement;
  readonly #forget: Statement;
  readonly #find: Statement;

  constructor(database: Database, registry: Registry, items: Items, facts: Facts, residue: Residue) {
    this.#registry = registry;
    this.#items = items;
    this.#facts = facts;
    this.#residue = residue;
    this.#log = database.prepare(
      "INSERT INTO promotion (id, from_space, to_space, actor, reason, at) VALUES (?, ?, ?, ?, ?, ?)",
    );
    this.#note = database.prepare("INSERT OR IGNORE INTO copy (id, from_space, to_space) VALUES (?, ?, ?)");
    this.#find = database.prepare(
      "SELECT 1 FROM promotion WHERE to_space = ? AND id = ? AND actor IS ? AND reason = ? AND at = ?",
    );
    this.#forget = database.prepare("DELETE FROM promotion WHERE to_space = ? RETURNING id, actor, reason");
  }

  promote(write: PromoteWrite, transaction: Transaction): PromoteDone {
    const ids = [...new Set(write.ids)];
    const from = this.#registry.findSpace(write.from)?.key;
    for (const id of ids) this.#copy(id, from, write, transaction);
    return { op: "promote", ids };
  }

  restore(write: RestorePromotionWrite, transaction: Transaction): RestorePromotionDone {
    const { id, actor = null, reason, at } = write;
    const to = this.#registry.ensureSpace(write.to, transaction);
    if (this.#find.get(to, id, actor, reason, at)) return { op: "restore_promotion", restored: false };
    const from = (write.from && this.#registry.findSpace(write.from)?.key) ?? NOBODY;
    this.#log.run(id, from, to, actor, reason, at);
    const areThere = [from, to].every((space) => this.#items.find(id, space, transaction.now));
    if (areThere && from !== to) this.#note.run(id, from, to);
    transaction.kept();
    return { op: "restore_promotion", restored: true };
  }

  #copy(id: string, from: number | undefined, write: PromoteWrite, transaction: Transaction): void {
    const { now } = transaction;
    const found = from === undefined ? undefined : this.#items.find(id, from, now);
    if (from === undefined || !found) throw nothingToPromote(id);
    const to = this.#registry.ensureSpace(write.to, transaction);
    if (to === from) throw sameSpace();
    const fact = this.#facts.find(write.from, id, now);
    if (fact) this.#copyFact(fact, write, transaction);
    else this.#copyItem(found, write, transaction);
    this.#log.run(id, from, to, write.actor ?? null, write.reason, now);
    this.#note.run(id, from, to);
    transaction.touch(to);
  }

  #copyItem(found: Row, { to, agent }: PromoteWrite, transaction: Transaction): void {
    const { id, kind, role, name, content, parts, metadata, tier, occurredAt, expiresAt } = readItem(found);
    const row = {
      ...{ id, kind, content, metadata, tier, occurredAt },
      ...(role !== undefined && { role }),
      ...(name !== undefined && { name }),
      ...(parts !== undefined && { parts }),
      ...(expiresAt !== undefined && { expiresAt }),
    };
    const place = { space: to, ...(agent !== undefined && { agent }) };
    this.#items.add({ op: "add", ...place, items: [row], existing: "same" }, transaction);
  }

  #copyFact(fact: FactRecord, { to, agent }: PromoteWrite, transaction: Transaction): void {
    const { id, category, content, confidence, spans } = fact;
    refuseIfOther(id, this.#facts.find(to, id, transaction.now), fact);
    const { outcome } = this.#facts.put(
      {
        op: "put_fact",
        space: to,
        ...(agent !== undefined && { agent }),
        ...{ id, category, content, confidence, source: {}, from: startOf(spans), supersedes: [], force: false },
      },
      transaction,
    );
    if (outcome === "retracted") throw promotedRetracted(id);
  }

  /** Removes the log of a forgotten space. */
  forgetSpace(space: number): void {
    for (const texts of this.#forget.all(space)) this.#residue.remember(texts);
  }
}
