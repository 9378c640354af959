/** Promotions in memory: copies with their log, and which of them have both sides still there. */
import type { Page } from "../../types.js";
import { startOf } from "../fact-rules.js";
import { nothingToPromote, promotedRetracted, refuseIfOther, sameSpace } from "../promotion-rules.js";
import type {
  PromoteDone,
  PromoteWrite,
  Promotion,
  PromotionsRequest,
  RestorePromotionDone,
  RestorePromotionWrite,
} from "../promotions.js";
import { add } from "./add.js";
import type { Attempt } from "./attempt.js";
import { type FactRecord, findFact } from "./fact-records.js";
import { putFact } from "./facts.js";
import { pageOf } from "./page.js";
import { isVisible, type Row } from "./row.js";
import type { Space } from "./space.js";
import type { State } from "./state.js";

/** A promotion in the log of its target. The space it came from may be renamed, or be gone. */
export interface PromotionRecord extends Pick<Promotion, "id" | "actor" | "reason" | "at"> {
  readonly key: number;
  readonly origin: Space | undefined;
}

export function promote(write: PromoteWrite, state: State, attempt: Attempt): PromoteDone {
  const ids = [...new Set(write.ids)];
  const origin = state.registry.find(write.from);
  for (const id of ids) copy(id, origin, write, state, attempt);
  return { op: "promote", ids };
}

function copy(id: string, origin: Space | undefined, write: PromoteWrite, state: State, attempt: Attempt): void {
  const row = origin?.rows.get(id);
  if (!origin || !row || !isVisible(row, origin, attempt.now)) throw nothingToPromote(id);
  const target = state.registry.ensure(write.to, attempt);
  if (target === origin) throw sameSpace();
  const fact = findFact(origin, id, attempt.now);
  if (fact) copyFact(fact, target, write, state, attempt);
  else copyRow(row, write, state, attempt);
  const { actor, reason } = write;
  const key = state.nextArrival();
  const record = { key, origin, id, ...(actor !== undefined && { actor }), reason, at: attempt.now };
  attempt.set(target.promotions, key, record);
  origin.copies.add(id, target, attempt);
  target.originals.add(id, origin, attempt);
  attempt.touched.add(target);
}

export function restorePromotion(write: RestorePromotionWrite, state: State, attempt: Attempt): RestorePromotionDone {
  const { id, actor, reason, at } = write;
  const target = state.registry.ensure(write.to, attempt);
  const isThere = [...target.promotions.values()].some(
    (known) => known.id === id && known.actor === actor && known.reason === reason && known.at === at,
  );
  if (isThere) return { op: "restore_promotion", restored: false };
  const origin = write.from && state.registry.find(write.from);
  const key = state.nextArrival();
  attempt.set(target.promotions, key, { key, origin, id, ...(actor !== undefined && { actor }), reason, at });
  attempt.changed = true;
  if (origin && origin !== target && [origin, target].every((space) => holds(space, id, attempt.now))) {
    origin.copies.add(id, target, attempt);
    target.originals.add(id, origin, attempt);
  }
  return { op: "restore_promotion", restored: true };
}

function holds(space: Space, id: string, now: number): boolean {
  const row = space.rows.get(id);
  return row !== undefined && isVisible(row, space, now);
}

function copyRow(row: Row, { to, agent }: PromoteWrite, state: State, attempt: Attempt): void {
  const { id, kind, role, name, content, parts, metadata, tier, occurredAt, expiresAt } = row;
  const item = {
    ...{ id, kind, content, metadata, tier, occurredAt },
    ...(role !== undefined && { role }),
    ...(name !== undefined && { name }),
    ...(parts !== undefined && { parts }),
    ...(expiresAt !== undefined && { expiresAt }),
  };
  const place = { space: to, ...(agent !== undefined && { agent }) };
  add({ op: "add", ...place, items: [item], existing: "same" }, state, attempt);
}

function copyFact(fact: FactRecord, target: Space, { to, agent }: PromoteWrite, state: State, attempt: Attempt): void {
  const { id, category, content, confidence, spans } = fact;
  refuseIfOther(id, findFact(target, id, attempt.now), fact);
  const said = { id, category, content, confidence, source: {}, from: startOf(spans) };
  const place = { space: to, ...(agent !== undefined && { agent }) };
  const { outcome } = putFact({ op: "put_fact", ...place, ...said, supersedes: [], force: false }, state, attempt);
  if (outcome === "retracted") throw promotedRetracted(id);
}

export function promotions(request: PromotionsRequest, { registry }: State): Page<Promotion> {
  const { space, order = "desc", limit, cursor } = request;
  const target = registry.find(space);
  const log = target?.promotions.values() ?? [];
  const page = pageOf(log, { list: "promotions", key: ({ key }) => [key], order, limit, cursor });
  const items = page.items.map(({ key: _key, origin, ...record }) => ({
    ...record,
    ...(origin && registry.find(origin.ref) === origin && { from: origin.ref }),
    to: space,
  }));
  return { ...page, items };
}
