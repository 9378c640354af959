/** The state of the plain model, and functions of it. */
import type { Note } from "../../stores/receipts.js";
import type { NewRow } from "../../stores/store.js";
import type { SpaceKind, SpaceRef } from "../../types.js";

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
  /** The version of its space that its last add or edit made. */
  spaceVersion: number;
  /** The store's number of it, once the store has told. */
  key: number | undefined;
  /** Absent while it is pending. */
  embedding: PlainEmbedding | undefined;
  parking: PlainParking | undefined;
  attempts: number;
}

export interface PlainEmbedding {
  /** One vector per chunk. */
  readonly vectors: readonly (readonly number[])[];
  /** The store's numbers of the items whose text they contain. */
  readonly borrowed: readonly number[];
}

export interface PlainParking {
  readonly error: string;
  readonly at: number;
  readonly retryAt: number | undefined;
}

export interface PlainLease {
  /** The key of a space or of a session, which are distinct; 0 for the outbox. */
  readonly lane: number;
  readonly owner: string;
  readonly fence: number;
}

export interface PlainReceipt {
  readonly space: number;
  readonly session: number | undefined;
  readonly key: string;
  hash: string | undefined;
  readonly notes: readonly Note[];
}

export interface PlainState {
  keys: number;
  spaces: PlainSpace[];
  sessions: PlainSession[];
  /** In order of arrival. */
  items: PlainItem[];
  receipts: PlainReceipt[];
  leases: PlainLease[];
  /** The attached external index. */
  index: string | undefined;
  removals: { readonly space: number; readonly spaceVersion: number }[];
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

/** Everything that makes two adds of one id equal. The operations' metadata have their keys in a fixed order. */
export function payload(row: NewRow, session: number | undefined): string {
  const { kind, role, name, content, parts, metadata, tier } = row;
  return JSON.stringify([session, kind, role, name, content, parts, metadata, tier]);
}

/** Makes the item pending, and all items that borrowed its text. Returns the spaces that this changed. */
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
