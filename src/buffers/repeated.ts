/** Reads again what a unit did when it was first written. */
import { FACT_STATES, type Fact } from "../stores/facts.js";
import { shownKey } from "../stores/keys.js";
import type { Note, OnceWrite } from "../stores/receipts.js";
import type { Done, Store } from "../stores/store.js";
import type { SpaceRef } from "../types.js";

/**
 * The first results, without anything forgotten since. A block is returned in the version that the unit wrote; facts
 * and entries are returned in their current state.
 */
export async function firstDone(
  store: Store,
  { space }: OnceWrite,
  notes: readonly Note[],
  now: number,
): Promise<readonly Done[]> {
  const done = await Promise.all(notes.map((note) => doneOf(store, space, note, now)));
  return done.filter((one) => one !== undefined);
}

async function doneOf(store: Store, space: SpaceRef | undefined, note: Note, now: number): Promise<Done | undefined> {
  switch (note.op) {
    case "add":
      return { ...note, repeated: true };
    case "put_block":
      return space && blockAs(store, space, note);
    case "put_point":
      return { op: "put_point", outcome: "unchanged" };
    case "put_fact": {
      const fact = await factNow(store, space, note.id, now);
      return fact && { op: "put_fact", outcome: note.outcome, fact, ended: note.ended };
    }
    case "end_fact": {
      const fact = await factNow(store, space, note.id, now);
      return fact && { op: "end_fact", fact };
    }
    case "register":
    case "amend": {
      const { op, kind, id } = note;
      const page =
        kind === "session" ? await store.sessions({ kind, id, limit: 1 }) : await store.entries({ kind, id, limit: 1 });
      const [entry] = page.items;
      return entry && (op === "amend" ? { op, entry } : { op, entry, created: false });
    }
    case "put_key": {
      const [key] = (await store.keys({ id: note.id, limit: 1 })).items;
      return key && { op: "put_key", key: shownKey(key) };
    }
    case "update":
    case "promote":
    case "ledger":
      return note;
  }
}

async function factNow(store: Store, space: SpaceRef | undefined, id: string, now: number): Promise<Fact | undefined> {
  if (!space || id === "") return undefined;
  return (await store.facts({ spaces: [space], ids: [id], states: FACT_STATES, limit: 1, now })).items[0];
}

async function blockAs(
  store: Store,
  space: SpaceRef,
  { id, version }: { readonly id: string; readonly version: number },
): Promise<Done | undefined> {
  const [[now], versions] = await Promise.all([
    store.blocks({ spaces: [space], ids: [id] }),
    store.blockVersions({ space, id, version, limit: 1 }),
  ]);
  const [then] = versions.items;
  if (!now || !then) return undefined;
  const { presentName: _name, reason: _reason, actor: _actor, at, ...state } = then;
  const { createdAt } = now;
  return { op: "put_block", block: { ...state, space, createdAt, updatedAt: at } };
}
