/**
 * Facts in memory. A fact that holds has an item of its id, which is added, edited and removed here and nowhere else but by
 * forgetting. The rules are in fact-rules.ts.
 */
import type { Page, SpaceRef } from "../../types.js";
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
} from "../fact-rules.js";
import {
  type EndFactDone,
  type EndFactWrite,
  type ExtractedDone,
  type ExtractedWrite,
  type Fact,
  type FactsRequest,
  factMetadata,
  type PutFactDone,
  type PutFactWrite,
  type RestoreFactDone,
  type RestoreFactWrite,
} from "../facts.js";
import { Gone } from "../gone.js";
import { add } from "./add.js";
import type { Attempt } from "./attempt.js";
import { forgetThing } from "./cascade.js";
import { type FactRecord, findFact, isAskedFor, isCircular, isKept, type Source, toFact } from "./fact-records.js";
import { pageOf } from "./page.js";
import { isVisible } from "./row.js";
import type { Space } from "./space.js";
import type { State } from "./state.js";
import { update } from "./update.js";

export function putFact(write: PutFactWrite, state: State, attempt: Attempt): PutFactDone {
  refuseSelfSuperseding(write);
  const { id, from } = write;
  const before = state.registry.find(write.space);
  const known = findFact(before, id, attempt.now);
  if (before && !known && before.facts.has(id)) forgetThing(id, before, state, attempt, new Gone()); // it has expired
  checkSource(write, before, attempt.now);
  const superseded = [...new Set(write.supersedes)].map((other) => requireFact(before, other, attempt.now));
  if (before && known?.state === "retracted" && !write.force) {
    return { op: "put_fact", outcome: "retracted", fact: toFact(known, before), ended: [] };
  }
  const space = state.registry.ensure(write.space, attempt);
  const { key, outcome } = known
    ? putKnown(known, write, space, state, attempt)
    : addFact(write, space, state, attempt);
  const ended = superseded.filter((fact) => fact.state === "holds");
  for (const fact of ended) close(fact, closed(fact, "ended", from, key), space, state, attempt);
  const fact = toFact(space.facts.get(id) as FactRecord, space);
  return { op: "put_fact", outcome, fact, ended: ended.map((other) => other.id) };
}

export function endFact({ space: ref, id, as, at }: EndFactWrite, state: State, attempt: Attempt): EndFactDone {
  const space = state.registry.find(ref);
  const known = requireFact(space, id, attempt.now);
  if (!space) throw noSuchFact(id);
  const isChange = as === "ended" ? known.state === "holds" : known.state !== "retracted";
  if (isChange) close(known, closed(known, as, at), space, state, attempt);
  return { op: "end_fact", fact: toFact(space.facts.get(id) as FactRecord, space) };
}

export function restoreFact(write: RestoreFactWrite, state: State, attempt: Attempt): RestoreFactDone {
  const { id, category, content, confidence, pinned, expiresAt } = write;
  const { now } = attempt;
  const space = state.registry.ensure(write.space, attempt);
  const known = findFact(space, id, now);
  const spans = restoredSpans(write.spans, (other) => space.facts.get(other)?.key);
  if (known) {
    refuseIfOtherwise(known, write);
    const linked = linkedSpans(known.spans, spans);
    if (linked === known.spans) return { op: "restore_fact", outcome: "unchanged" };
    next(known, { spans: linked }, space, attempt);
    return { op: "restore_fact", outcome: "linked" };
  }
  if (space.facts.has(id)) forgetThing(id, space, state, attempt, new Gone()); // it has expired
  const row = space.rows.get(id);
  if (row && isVisible(row, space, now)) throw takenByItem(id);
  for (const { message } of write.sources) {
    if (message !== undefined && isCircular(message, id, space)) throw circularSource(message);
  }
  const standing: Standing = { confidence, pinned, state: write.state, spans };
  if (write.state === "holds") addItem(write, { category, content, expiresAt }, standing, state, attempt);
  const sources = write.sources.map((source) => sourceOf({ ...write, source }, space, state, attempt));
  const times = { recordedAt: now, updatedAt: now, keptFrom: now, expiresAt: undefined };
  const key = state.nextArrival();
  attempt.set(space.facts, id, { ...standing, key, id, category, content, sources, ...times, version: 1 });
  for (const source of sources) rest(id, source, space, attempt);
  attempt.touched.add(space);
  return { op: "restore_fact", outcome: "added" };
}

export function noteExtracted(write: ExtractedWrite, state: State, attempt: Attempt) {
  const { space, session: name, upTo, after } = write;
  const session = state.registry.find(space)?.sessions.get(name);
  if (!session) throw noSuchSession();
  refuseIfExtracted(session.extracted, after);
  if (upTo > session.extracted) {
    attempt.assign(session, { extracted: upTo });
    attempt.changed = true;
  }
  return { op: "extracted" } satisfies ExtractedDone;
}

export function facts(request: FactsRequest, { registry }: State): Page<Fact> {
  const found = registry
    .findAll(request.spaces)
    .flatMap((space) =>
      [...space.facts.values()]
        .filter((fact) => isKept(fact, space, request.now) && isAskedFor(fact, request))
        .map((fact) => ({ fact, space })),
    );
  const { limit, cursor } = request;
  const page = pageOf(found, { list: "facts", key: ({ fact }) => [fact.key], order: "asc", limit, cursor });
  return { ...page, items: page.items.map(({ fact, space }) => toFact(fact, space)) };
}

export function extracted(space: SpaceRef, session: string, { registry }: State): number {
  return registry.find(space)?.sessions.get(session)?.extracted ?? 0;
}

function requireFact(space: Space | undefined, id: string, now: number): FactRecord {
  const fact = findFact(space, id, now);
  if (!fact) throw noSuchFact(id);
  return fact;
}

function checkSource({ id, source: { message } }: PutFactWrite, space: Space | undefined, now: number): void {
  if (message === undefined) return;
  const row = space?.rows.get(message);
  if (!space || !row || !isVisible(row, space, now)) throw noSuchSource(message);
  if (isCircular(message, id, space)) throw circularSource(message);
}

function addFact(write: PutFactWrite, space: Space, state: State, attempt: Attempt) {
  const { id, category, content } = write;
  const { now } = attempt;
  const row = space.rows.get(id);
  if (row && isVisible(row, space, now)) throw takenByItem(id);
  const standing = firstStanding(write);
  addItem(write, { category, content, expiresAt: undefined }, standing, state, attempt);
  const source = sourceOf(write, space, state, attempt);
  const key = state.nextArrival();
  const times = { recordedAt: now, updatedAt: now, keptFrom: now, expiresAt: undefined };
  attempt.set(space.facts, id, { ...standing, key, id, category, content, sources: [source], ...times, version: 1 });
  rest(id, source, space, attempt);
  return { key, outcome: "added" } as const;
}

function putKnown(known: FactRecord, write: PutFactWrite, space: Space, state: State, attempt: Attempt) {
  const { key, id, sources } = known;
  const isNewSource = !hasSource(known, write);
  const after = putAgain(known, write);
  if (after === known && !isNewSource) return { key, outcome: "unchanged" } as const;
  if (write.agent !== undefined) state.registry.ensure({ agent: write.agent }, attempt);
  const added = isNewSource ? [sourceOf(write, space, state, attempt)] : [];
  for (const source of added) rest(id, source, space, attempt);
  const holds = known.state === "holds";
  const kept = holds ? {} : { keptFrom: attempt.now, expiresAt: undefined };
  if (holds) editItem(write, known, after, state, attempt);
  else addItem(write, known, after, state, attempt);
  next(known, { ...after, sources: [...sources, ...added], ...kept }, space, attempt);
  return { key, outcome: holds ? "updated" : "revived" } as const;
}

/** The next version of the fact. */
function next(known: FactRecord, change: Partial<FactRecord>, space: Space, attempt: Attempt): void {
  const { now: updatedAt } = attempt;
  attempt.set(space.facts, known.id, { ...known, ...change, updatedAt, version: known.version + 1 });
  attempt.touched.add(space);
}

function hasSource({ sources }: FactRecord, { source: { message, session } }: PutFactWrite): boolean {
  return sources.some((known) =>
    message === undefined
      ? known.message === undefined && known.session?.entry.name === session
      : known.message === message,
  );
}

function sourceOf(
  { source: { message, session }, agent }: Pick<PutFactWrite, "source" | "agent">,
  space: Space,
  state: State,
  attempt: Attempt,
): Source {
  if (message !== undefined) return { message };
  return session === undefined ? {} : { session: state.registry.ensureSession(space, session, agent, attempt) };
}

function rest(id: string, { message, session }: Source, space: Space, attempt: Attempt): void {
  const ground = message ?? session;
  if (ground !== undefined) space.resting.add(ground, id, attempt);
}

function addItem(
  { space, agent, id }: Pick<PutFactWrite, "space" | "agent" | "id">,
  { category, content, expiresAt }: Pick<FactRecord, "category" | "content" | "expiresAt">,
  { confidence, spans }: Standing,
  state: State,
  attempt: Attempt,
): void {
  const item = {
    id,
    kind: "fact",
    content,
    tier: "semantic",
    metadata: factMetadata({ category, confidence }),
    occurredAt: startOf(spans),
    ...(expiresAt !== undefined && { expiresAt }),
  } as const;
  const place = { space, ...(agent !== undefined && { agent }) };
  add({ op: "add", ...place, items: [item], existing: "replace" }, state, attempt, "fact");
}

function editItem(write: PutFactWrite, before: FactRecord, after: Standing, state: State, attempt: Attempt): void {
  const { category, confidence, spans } = before;
  const isMoved = startOf(after.spans) !== startOf(spans);
  if (!isMoved && after.confidence === confidence) return;
  const patch = {
    metadata: factMetadata({ category, confidence: after.confidence }),
    ...(isMoved && { occurredAt: startOf(after.spans) }),
  };
  update({ op: "update", space: write.space, id: write.id, patch }, state, attempt, "fact");
}

/** The fact holds no longer, or never did. */
function close(known: FactRecord, after: Standing, space: Space, state: State, attempt: Attempt): void {
  const row = space.rows.get(known.id);
  if (row) state.remove(space, row, attempt);
  next(known, { ...after, expiresAt: row ? row.expiresAt : known.expiresAt }, space, attempt);
}
