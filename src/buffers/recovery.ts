/** The answer to a unit that is known to be committed although the store's own answer was lost: read from what is there. */
import { HoldfastError } from "../errors.js";
import { FACT_STATES } from "../stores/facts.js";
import { noSuchKey } from "../stores/key-rules.js";
import { shownKey } from "../stores/keys.js";
import { type Done, NOTHING_FORGOTTEN, type Store, type Unit, type Write } from "../stores/store.js";
import type { SpaceRef } from "../types.js";
import type { UnitResult } from "./write.js";

export async function answerFromStore(store: Store, unit: Unit, now: number): Promise<UnitResult> {
  try {
    const done: Done[] = [];
    let commit = 0;
    for (const write of unit) {
      done.push(await readDone(store, write, now));
      const space = spaceOf(write);
      if (space) commit = Math.max(commit, ...(await store.versions([space])));
    }
    return { ok: true, done, commit };
  } catch (cause) {
    const error = new HoldfastError("outcome_unknown", "the call was written, but its answer could not be read", {
      cause,
    });
    return { ok: false, error };
  }
}

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
    case "forget": // a slice more finds nothing, or the rest
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
      if (!found) throw new HoldfastError("not_found", `the ${entry.kind} was changed again meanwhile`);
      return write.op === "register" ? { op: "register", entry: found, created: true } : { op: "amend", entry: found };
    }
    case "put_block": {
      const [block] = await store.blocks({ spaces: [write.space], ids: [write.id] });
      if (!block) throw new HoldfastError("not_found", "the block was forgotten meanwhile");
      return { op: "put_block", block };
    }
    case "put_fact":
    case "end_fact": {
      const request = { spaces: [write.space], ids: [write.id], states: FACT_STATES, limit: 1, now };
      const [fact] = (await store.facts(request)).items;
      if (!fact) throw new HoldfastError("not_found", "the fact was forgotten meanwhile");
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
    case "replay": // a slice more finds nothing, or the rest
      return { op: "replay", replayed: 0, remaining: true };
    case "adopt":
      return { op: "adopt" };
    case "attach":
      return { op: "attach", remaining: true };
    default:
      throw new HoldfastError("unsupported", `a write of kind ${write.op} does not go through the WriteBuffer`);
  }
}

function spaceOf(write: Write): SpaceRef | undefined {
  switch (write.op) {
    case "add":
    case "update":
    case "put_block":
    case "put_fact":
    case "end_fact":
    case "restore_fact":
      return write.space;
    case "promote":
    case "restore_promotion":
      return write.to;
    case "forget":
      return "space" in write.target ? write.target.space : undefined;
    default:
      return undefined;
  }
}
