/** What the plain model holds, and what can be said of it without asking the model. */
import type { NewRow, RowFilter } from "../../stores/store.js";
import type { Item, Json, SpaceKind, SpaceRef } from "../../types.js";

export interface PlainSpace {
  readonly key: number;
  readonly kind: SpaceKind;
  name: string;
  description: string | undefined;
  retentionMs: number | undefined;
  readonly createdAt: number;
  updatedAt: number;
  version: number;
}

export interface PlainSession {
  readonly key: number;
  readonly space: number;
  name: string;
  readonly agent: number | undefined;
  readonly createdAt: number;
  updatedAt: number;
  next: number;
}

export interface PlainItem {
  readonly space: number;
  readonly session: number | undefined;
  agent: number | undefined;
  readonly sequence: number | undefined;
  readonly round: number | undefined;
  row: NewRow;
  readonly recordedAt: number;
  updatedAt: number;
  version: number;
  commit: number;
  /** The store's number of it, once the store has told. */
  key: number | undefined;
  /** Absent while it waits to be embedded. */
  embedding: PlainEmbedding | undefined;
  parking: PlainParking | undefined;
  attempts: number;
}

export interface PlainEmbedding {
  /** One vector per chunk. */
  readonly vectors: readonly (readonly number[])[];
  /** The store's numbers of the items whose text they carry. */
  readonly borrowed: readonly number[];
}

export interface PlainParking {
  readonly error: string;
  readonly at: number;
  readonly retryAt: number | undefined;
}

export interface PlainLease {
  /** The key of a space or of a session, which are never the same; 0: the outbox. */
  readonly lane: number;
  readonly owner: string;
  readonly fence: number;
}

export interface PlainAnswer {
  readonly space: number;
  readonly session: number | undefined;
  readonly key: string;
  hash: string | undefined;
  readonly ids: readonly string[];
  readonly sequences: readonly number[];
  readonly at: number;
}

export interface PlainState {
  commit: number;
  keys: number;
  spaces: PlainSpace[];
  sessions: PlainSession[];
  /** In the order of arrival. */
  items: PlainItem[];
  answers: PlainAnswer[];
  leases: PlainLease[];
  /** The external index attached. */
  index: string | undefined;
  removals: { readonly space: number; readonly commit: number }[];
  /** When a name last went to another space or to none, or was sliced: changes from before cannot be told by name. */
  moved: Record<string, number>;
}

export function refOf(space: PlainSpace | undefined): SpaceRef {
  return { [space?.kind ?? "user"]: space?.name } as unknown as SpaceRef;
}

export function entryOf({ kind, name, description, retentionMs, createdAt, updatedAt }: PlainSpace) {
  const optional = {
    ...(description !== undefined && { description }),
    ...(retentionMs !== undefined && { retentionMs }),
  };
  return { kind, name, ...optional, createdAt, updatedAt };
}

/** All that makes two adds of one id the same. Metadata of the model's operations have their keys in one order. */
export function payload(row: NewRow, session: number | undefined): string {
  const { kind, role, name, content, parts, metadata, tier } = row;
  return JSON.stringify([session, kind, role, name, content, parts, metadata, tier]);
}

/** The item becomes pending, and so does whoever borrowed its text. Tells the spaces that this has changed. */
export function dropVectorsWith(item: PlainItem, items: readonly PlainItem[]): readonly number[] {
  const borrowers = items.filter((one) => item.key !== undefined && one.embedding?.borrowed.includes(item.key));
  for (const one of [item, ...borrowers]) waitAgain(one);
  return borrowers.map(({ space }) => space);
}

export function waitAgain(item: PlainItem): void {
  item.embedding = undefined;
  item.parking = undefined;
  item.attempts = 0;
}

export function passes(item: Omit<Item, "sessionId">, filter: RowFilter): boolean {
  if (filter.sessions && !filter.sessions.some((name) => name === item.session)) return false;
  if (filter.agents && !filter.agents.some((name) => name === item.agent)) return false;
  if (filter.roles && !filter.roles.some((role) => role === item.role)) return false;
  if (filter.kinds && !filter.kinds.some((kind) => kind === item.kind)) return false;
  if (filter.tiers && !filter.tiers.some((tier) => tier === item.tier)) return false;
  if (filter.from !== undefined && item.occurredAt < filter.from) return false;
  if (filter.to !== undefined && item.occurredAt >= filter.to) return false;
  for (const { path, anyOf } of filter.metadata ?? []) {
    let value: Json | undefined = item.metadata;
    for (const key of path) value = (value as { readonly [key: string]: Json } | null | undefined)?.[key];
    if (!anyOf.some((wanted) => wanted === value)) return false;
  }
  return true;
}
