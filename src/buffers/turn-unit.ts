/** How a turn becomes a unit of writing. */
import { factRow } from "../facts/fact.js";
import { newId } from "../ids.js";
import { parseMessages } from "../input/message.js";
import type { ParsedScope } from "../input/scope.js";
import type { AddWrite, NewRow } from "../stores/store.js";
import type { SizedUnit } from "./lanes.js";
import type { BufferedWrite } from "./turn.js";
import { bytesOf } from "./units.js";

/** Ids are given before the first try, so that a second one cannot add twice. */
export function withId(write: BufferedWrite, now: number): BufferedWrite {
  if (write.op !== "save_message" || write.message.id !== undefined) return write;
  return { ...write, message: { ...write.message, id: newId(now) } };
}

/** A turn's messages as one round, then its facts: one unit, all or nothing. Undefined if there is nothing to write. */
export function turnUnit(place: ParsedScope, writes: readonly BufferedWrite[], now: number): SizedUnit | undefined {
  const messages = writes.flatMap((write) => (write.op === "save_message" ? [write.message] : []));
  const facts = writes.flatMap((write): NewRow[] => (write.op === "upsert_fact" ? [factRow(write, now)] : []));
  const unit: AddWrite[] = [];
  if (messages.length > 0)
    unit.push({ op: "add", ...place, items: parseMessages(messages, now).rows, existing: "same" });
  for (const fact of facts) unit.push({ op: "add", space: place.space, items: [fact], existing: "replace" });
  if (unit.length === 0) return undefined;
  const rows = unit.flatMap(({ items }) => items);
  return { unit, messages: rows.length, bytes: bytesOf(rows) };
}
