/** A fact as it is kept in memory, and how it is found and read. Records are never changed in place. */
import { heldAt, type Standing } from "../fact-rules.js";
import type { Fact, FactSource, FactSpan, FactsRequest } from "../facts.js";
import { isVisible } from "./row.js";
import type { Session, Space } from "./space.js";

export interface FactRecord extends Standing {
  /** The store's number of it, in the order in which facts were first recorded; never given twice. */
  readonly key: number;
  readonly id: string;
  readonly category: string;
  readonly content: string;
  readonly sources: readonly Source[];
  readonly recordedAt: number;
  readonly updatedAt: number;
  /** From when its space's retention counts: when its item was recorded, or the last one it had. */
  readonly keptFrom: number;
  /** The expiry that its item had; absent while it holds, because then the item has it. */
  readonly expiresAt: number | undefined;
  readonly version: number;
}

/** A message by its id, else a session, else the word of the host. */
export interface Source {
  readonly message?: string;
  readonly session?: Session;
}

/** The fact of this id, as long as it is kept. */
export function findFact(space: Space | undefined, id: string, now: number): FactRecord | undefined {
  const fact = space?.facts.get(id);
  return space && fact && isKept(fact, space, now) ? fact : undefined;
}

/** The expiry and retention of a fact that holds are those of its item. */
export function isKept({ id, state, keptFrom, expiresAt = Infinity }: FactRecord, space: Space, now: number): boolean {
  const row = space.rows.get(id);
  if (state === "holds") return row !== undefined && isVisible(row, space, now);
  return Math.min(expiresAt, keptFrom + (space.entry.retentionMs ?? Infinity)) > now;
}

/** Whether the message is this fact, or rests on it by way of others. */
export function isCircular(message: string, id: string, space: Space): boolean {
  const seen = new Set([message]);
  for (const next of seen) {
    for (const source of space.facts.get(next)?.sources ?? [])
      if (source.message !== undefined) seen.add(source.message);
  }
  return seen.has(id);
}

export function isAskedFor(fact: FactRecord, request: FactsRequest): boolean {
  const { ids, categories, pinned, states = ["holds"], asOf } = request;
  return (
    (!ids || ids.includes(fact.id)) &&
    (!categories || categories.includes(fact.category)) &&
    (pinned === undefined || pinned === fact.pinned) &&
    (asOf === undefined ? states.includes(fact.state) : heldAt(fact, asOf))
  );
}

export function toFact(record: FactRecord, space: Space): Fact {
  const { id, category, content, confidence, pinned, state, recordedAt, updatedAt, version } = record;
  return {
    id,
    space: space.ref,
    ...{ category, content, confidence, pinned, state },
    spans: record.spans.map((span) => toSpan(span, space)),
    sources: record.sources.map((source) => toSource(source, space)),
    ...{ recordedAt, updatedAt, version },
  };
}

/** The fact that took its place is named as long as it is known. */
function toSpan({ from, to, by }: FactRecord["spans"][number], space: Space): FactSpan {
  const later = by && [...space.facts.values()].find(({ key }) => key === by);
  return { from, ...(to !== undefined && { to }), ...(later && { supersededBy: later.id }) };
}

function toSource({ message, session }: Source, space: Space): FactSource {
  const home = message === undefined ? session : space.rows.get(message)?.home;
  return { ...(home && { session: home.entry.name }), ...(message !== undefined && { message }) };
}
