/** How one add call becomes units of writing. */
import { payloadHash } from "../input/hash.js";
import type { ParsedRound } from "../input/message.js";
import type { ParsedScope } from "../input/scope.js";
import type { AddWrite, NewRow, Unit } from "../stores/store.js";
import { GROUP_BYTES, GROUP_MESSAGES } from "./group.js";
import type { SizedUnit } from "./lanes.js";

/** A round over the limits of a group is written in parts of this many messages. */
const PART_MESSAGES = 128;

/** Separates an idempotency key from the number of its part; a caller's key may contain it, but not collide by chance. */
const PART_MARK = "\u001f";

/**
 * The units of a round: one, all or nothing, for up to 256 messages and 1 MB; parts in order beyond that. Every part
 * carries the hash of the whole call, so that a retry either repeats all of it or conflicts at its first part.
 */
export function unitsOf(scope: ParsedScope, round: ParsedRound, idempotencyKey?: string): readonly SizedUnit[] {
  const hash = idempotencyKey === undefined ? "" : payloadHash(round);
  return cut(round.rows).map((rows, part) => {
    const write: AddWrite = {
      op: "add",
      ...scope,
      items: rows,
      existing: "same",
      ...(part > 0 && round.rows[0] && { continues: round.rows[0].id }),
      ...(idempotencyKey !== undefined && {
        idempotency: { key: part === 0 ? idempotencyKey : `${idempotencyKey}${PART_MARK}${part}`, hash },
      }),
    };
    return { unit: [write], messages: rows.length, bytes: bytesOf(rows) };
  });
}

function cut(rows: readonly NewRow[]): readonly (readonly NewRow[])[] {
  if (rows.length <= GROUP_MESSAGES && bytesOf(rows) <= GROUP_BYTES) return [rows];
  const parts: NewRow[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const row of rows) {
    const size = bytesOf([row]);
    const last = parts.at(-1);
    if (!last || last.length === PART_MESSAGES || bytes + size > GROUP_BYTES) {
      parts.push([row]);
      bytes = size;
    } else {
      last.push(row);
      bytes += size;
    }
  }
  return parts;
}

/** What rows weigh while they wait: their text, and a little for the rest. */
export function bytesOf(rows: readonly NewRow[]): number {
  let bytes = 0;
  for (const { content, parts, metadata } of rows) {
    bytes += 256 + content.length * 2;
    if (parts) bytes += JSON.stringify(parts).length;
    for (const _ in metadata) {
      bytes += JSON.stringify(metadata).length;
      break;
    }
  }
  return bytes;
}

/** The same of any unit: its rows, or its texts as far as they are long. */
export function bytesOfUnit(unit: Unit): number {
  return unit.reduce((bytes, write) => {
    if (write.op === "add") return bytes + bytesOf(write.items);
    if (write.op === "put_block") return bytes + 256 + write.state.content.length * 2;
    if (write.op === "put_fact" || write.op === "restore_fact") return bytes + 256 + write.content.length * 2;
    if (write.op === "ledger") return bytes + 256 + write.put.length * 128;
    return bytes + 256;
  }, 0);
}
