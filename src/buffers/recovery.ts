/**
 * Reconstructs, from the store's contents, the result of a unit that is known to be committed but whose result was
 * lost.
 */
import { isDeepStrictEqual } from "node:util";
import { fromRecord, HoldfastError } from "../errors.js";
import { FACT_STATES } from "../stores/facts.js";
import { noSuchKey } from "../stores/key-rules.js";
import { shownKey } from "../stores/keys.js";
import type { Note, OnceWrite } from "../stores/receipts.js";
import { type Done, NOTHING_FORGOTTEN, type Store, type Unit, type Write } from "../stores/store.js";
import type { SizedUnit } from "./lanes.js";
import { firstDone } from "./repeated.js";
import type { UnitResult } from "./write.js";

export async function answerFromStore(store: Store, { unit, once }: SizedUnit, now: number): Promise<UnitResult> {
  try {
    const first = once && (await notesOf(store, once, now));
    if (first && !isOwn(unit, first)) {
      // This key was used by an earlier write, so nothing of this unit was written.
      return { ok: true, done: await firstDone(store, once, first, now), repeated: true };
    }
    const done: Done[] = [];
    for (const write of unit) done.push(await readDone(store, write, now));
    return { ok: true, done, repeated: false };
  } catch (cause) {
    const error = new HoldfastError("outcome_unknown", "the call was written, but its answer could not be read", {
      cause,
    });
    return { ok: false, error };
  }
}

async function notesOf(store: Store, once: OnceWrite, now: number): Promise<readonly Note[] | undefined> {
  const [outcome] = (await store.commit([[once]], now, "")).outcomes;
  if (!outcome?.ok) throw outcome ? fromRecord(outcome.error) : new HoldfastError("store_failed", "no answer");
  const [head] = outcome.done;
  return head?.op === "once" ? head.first : undefined;
}

/** Whether the notes belong to this unit, judged by the ids and versions that the unit itself chose. */
const isOwn = (unit: Unit, notes: readonly Note[]): boolean =>
  unit.every((write, at) => {
    const note = notes[at];
    if (write.op === "add")
      return (
        note?.op === "add" &&
        isDeepStrictEqual(
          note.ids,
          write.items.map(({ id }) => id),
        )
      );
    if (write.op === "put_key") return note?.op === "put_key" && note.id === write.key.id;
    if (write.op !== "put_block") return note?.op === write.op;
    return note?.op === "put_block" && note.id === write.id && note.version === write.expect + 1;
  });

async function readDone(store: Store, write: Write, now: number): Promise<Done> {
  switch (write.op) {
    case "add": {
      const ids = write.items.map(({ id }) => id);
      const items = new Map((await store.get([write.space], ids, now)).map((item) => [item.id, item]));
      return { op: "add", ids, sequences: ids.flatMap((id) => items.get(id)?.sequence ?? []), repeated: false };
    }
    case "update": {
      const [item] = await store.get([write.space], [write.id], now);
      return { op: "update", version: item?.version ?? 0 };
    }
    case "forget": // one more slice finds nothing, or the rest
      return { ...NOTHING_FORGOTTEN, remaining: true };
    case "register":
    case "amend": {
      const name = write.op === "amend" ? (write.name ?? write.entry.name) : write.entry.name;
      const entry = write.entry;
      const page =
        entry.kind === "session"
          ? await store.sessions({ kind: "session", space: entry.space, name, limit: 1 })
          : await store.entries({ kind: entry.kind, name, limit: 1 });
      const [found] = page.items;
      if (!found) throw new HoldfastError("not_found", `the ${entry.kind} was changed again in the meantime`);
      return write.op === "register" ? { op: "register", entry: found, created: true } : { op: "amend", entry: found };
    }
    case "put_block": {
      const [block] = await store.blocks({ spaces: [write.space], ids: [write.id] });
      if (!block) throw new HoldfastError("not_found", "the block was forgotten in the meantime");
      return { op: "put_block", block };
    }
    case "put_point":
      return { op: "put_point", outcome: "updated" };
    case "put_fact":
    case "end_fact": {
      const request = { spaces: [write.space], ids: [write.id], states: FACT_STATES, limit: 1, now };
      const [fact] = (await store.facts(request)).items;
      if (!fact) throw new HoldfastError("not_found", "the fact was forgotten in the meantime");
      return write.op === "end_fact"
        ? { op: "end_fact", fact }
        : { op: "put_fact", outcome: "updated", fact, ended: [] };
    }
    case "restore_fact":
      return { op: "restore_fact", outcome: "added" };
    case "extracted":
      return { op: "extracted" };
    case "ledger":
      return { op: "ledger" };
    case "promote":
      return { op: "promote", ids: write.ids };
    case "restore_promotion":
      return { op: "restore_promotion", restored: true };
    case "put_key":
    case "revoke_key": {
      const id = write.op === "put_key" ? write.key.id : write.id;
      const [key] = (await store.keys({ id, limit: 1 })).items;
      if (!key) throw noSuchKey();
      return { op: write.op, key: shownKey(key) };
    }
    case "replay": // one more slice finds nothing, or the rest
      return { op: "replay", replayed: 0, remaining: true };
    case "attach":
      return { op: "attach", remaining: true };
    default:
      throw new HoldfastError("unsupported", `a write of kind ${write.op} does not go through the WriteBuffer`);
  }
}
