/** A stored item. Rows are never changed in place: an edit puts a new row in the old one's place. */
import { isDeepStrictEqual } from "node:util";
import type { Item } from "../../types.js";
import type { KeyedItem, NewRow, Scored } from "../store.js";
import type { Session, Space } from "./space.js";

export interface Row extends Omit<Item, "space" | "session" | "sessionId"> {
  readonly home: Session | undefined;
  /** Place in the order of insertion, over all spaces. */
  readonly arrival: number;
  /** The commit that wrote this version. */
  readonly commit: number;
}

/** The text whose words find the item. */
export function searchText(row: { readonly name?: string; readonly content: string }): string {
  return row.name === undefined ? row.content : `${row.name} ${row.content}`;
}

/** Whether the item may be in an answer: neither its own expiry nor its space's retention has passed. */
export function isVisible(row: Row, space: Space, now: number): boolean {
  return (untilOf(row, space).until ?? Infinity) > now;
}

/** From when on the item is in no answer, if it ever leaves them. */
function untilOf(row: Row, { entry: { retentionMs } }: Space): { readonly until?: number } {
  const retained = retentionMs === undefined ? Infinity : row.recordedAt + retentionMs;
  const until = Math.min(row.expiresAt ?? Infinity, retained);
  return until === Infinity ? {} : { until };
}

/** The item as a search finds it. */
export function toScored(row: Row, space: Space, score: number): Scored {
  const { arrival: key, id, version, role, occurredAt, home } = row;
  return {
    space: space.ref,
    key,
    id,
    version,
    score,
    ...(role !== undefined && { role }),
    occurredAt,
    ...(home && { sessionId: home.entry.id }),
    ...untilOf(row, space),
  };
}

export const toKeyed = (row: Row, space: Space): KeyedItem => ({
  ...toItem(row, space),
  key: row.arrival,
  ...untilOf(row, space),
});

/** Whether adding `item` in the session `home` again would say what `row` says already. Times and agent do not count. */
export function samePayload(row: Row, item: NewRow, home: Session | undefined): boolean {
  return (
    row.home === home &&
    row.kind === item.kind &&
    row.role === item.role &&
    row.name === item.name &&
    row.tier === item.tier &&
    row.content === item.content &&
    isDeepStrictEqual(row.metadata, plain(item.metadata)) &&
    isDeepStrictEqual(row.parts, item.parts && plain(item.parts))
  );
}

/** The item as callers see it; a copy, so that no caller can reach into the store. */
export function toItem(row: Row, space: Space): Item {
  const { home, arrival: _arrival, commit: _commit, ...fields } = row;
  return {
    ...fields,
    space: space.ref,
    ...(home && { session: home.entry.name, sessionId: home.entry.id }),
    ...(row.parts && { parts: structuredClone(row.parts) }),
    metadata: structuredClone(row.metadata),
  };
}

/** A copy as it would come back from a file: JSON and nothing else. */
export function plain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
