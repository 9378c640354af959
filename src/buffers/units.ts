/** Splits one add call into units of writes. */
import { payloadHash } from "../input/hash.js";
import type { ParsedRound } from "../input/message.js";
import { onceWith } from "../input/once.js";
import type { ParsedScope } from "../input/scope.js";
import { laneIn, laneKey } from "../space-key.js";
import type { Lane } from "../stores/indexing.js";
import type { AddWrite, NewRow, Unit } from "../stores/store.js";
import { GROUP_BYTES, GROUP_MESSAGES } from "./group.js";
import type { SizedUnit } from "./lanes.js";

/** A round larger than a group is written in parts of this many messages. */
const PART_MESSAGES = 128;

/** Separates an idempotency key from its part number. A caller's key may contain it, but cannot collide by accident. */
const PART_MARK = "\u001f";

/**
 * The units of a round: one atomic unit for up to 256 messages and 1 MB; beyond that, parts in order. Every part
 * carries the hash of the whole call, so a retry either repeats all of it or conflicts at its first part.
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
    };
    const key = part === 0 ? idempotencyKey : `${idempotencyKey}${PART_MARK}${part}`;
    const once = idempotencyKey === undefined || key === undefined ? undefined : onceWith(key, scope, hash);
    return { unit: [write], once, messages: rows.length, bytes: bytesOf(rows) };
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

/** Estimated memory of rows while they wait: their text plus a fixed overhead. */
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

/** The same estimate for any unit: its rows, and those of its texts that may be long. */
export function bytesOfUnit(unit: Unit): number {
  return unit.reduce((bytes, write) => {
    if (write.op === "add") return bytes + bytesOf(write.items);
    if (write.op === "put_block") return bytes + 256 + write.state.content.length * 2;
    if (write.op === "put_point") return bytes + 256 + write.vector.byteLength + JSON.stringify(write.payload).length;
    if (write.op === "put_fact" || write.op === "restore_fact") return bytes + 256 + write.content.length * 2;
    if (write.op === "ledger") return bytes + 256 + write.put.length * 128;
    return bytes + 256;
  }, 0);
}

/** A unit with its size, as the WriteBuffer queues it. */
export function sizedUnit(unit: Unit): SizedUnit {
  const messages = unit.reduce((sum, write) => sum + (write.op === "add" ? write.items.length : 1), 0);
  return { unit, messages, bytes: bytesOfUnit(unit) };
}

/** The lanes to which units add items that are embedded. */
export function lanesOf(units: readonly Unit[]): readonly Lane[] {
  const lanes = units.flat().flatMap((write): readonly Lane[] => {
    if (write.op === "add") return [laneIn(write)];
    return write.op === "restore_fact" ? [{ space: write.space }] : [];
  });
  return [...new Map(lanes.map((lane) => [laneKey(lane), lane])).values()];
}
