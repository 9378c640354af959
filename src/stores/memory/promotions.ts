/** Promotions in memory: copies with their log, and which of them have both sides still there. */
import type { Page } from "../../types.js";
import { startOf } from "../fact-rules.js";
import { nothingToPromote, promotedRetracted, refuseIfOther, sameSpace } from "../promotion-rules.js";
import type { PromoteDone, PromoteWrite, Promotion, PromotionsRequest } from "../promotions.js";
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
  readonly origin: Space;
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

export function promotions({ space, limit, cursor }: PromotionsRequest, { registry }: State): Page<Promotion> {
  const target = registry.find(space);
  const log = target?.promotions.values() ?? [];
  const page = pageOf(log, { list: "promotions", key: ({ key }) => [key], order: "desc", limit, cursor });
  const items = page.items.map(({ key: _key, origin, ...record }) => ({
    ...record,
    ...(registry.find(origin.ref) === origin && { from: origin.ref }),
    to: space,
  }));
  return { ...page, items };
}
