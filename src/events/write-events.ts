/** The events of a committed unit: one for each write that changed something callers can name. */
import type { Done, Unit, Write } from "../stores/store.js";
import type { SpaceRef } from "../types.js";
import type { Untold } from "./event.js";

export function eventsOf(unit: Unit, done: readonly Done[]): readonly Untold[] {
  return unit.flatMap((write, at) => {
    const answer = done[at];
    return answer ? eventsOfWrite(write, answer) : [];
  });
}

/** Spaces that lost their names, because they were renamed or forgotten with their entries. */
export function lostNames(unit: Unit, done: readonly Done[]): readonly SpaceRef[] {
  return unit.flatMap((write, at): SpaceRef[] => {
    const answer = done[at];
    if (write.op === "forget" && answer?.op === "forget" && answer.entries > 0) {
      return "space" in write.target ? [write.target.space] : [];
    }
    const isRenamed = write.op === "amend" && write.entry.kind !== "session" && write.name !== undefined;
    return isRenamed ? [{ [write.entry.kind]: write.entry.name } as SpaceRef] : [];
  });
}

/** Returns nothing for a forget: it is committed in slices, and forgetting.ts publishes one event for all of them. */
function eventsOfWrite(write: Write, done: Done): readonly Untold[] {
  switch (done.op) {
    case "add": {
      if (write.op !== "add" || done.repeated || done.ids.length === 0) return [];
      const kinds = [...new Set(write.items.map(({ kind }) => kind))];
      const session = write.session === undefined ? {} : { session: write.session };
      return [{ type: "added", space: write.space, ...session, ids: done.ids, kinds }];
    }
    case "update":
      if (write.op !== "update") return [];
      return [{ type: "edited", space: write.space, id: write.id, version: done.version }];
    case "put_block": {
      const { space, id, name, version } = done.block;
      return [{ type: "block", space, id, name, version }];
    }
    case "put_fact": {
      if (done.outcome === "unchanged" || done.outcome === "retracted") return [];
      const { space, id, state } = done.fact;
      const ended = done.ended.map((other): Untold => ({ type: "fact", space, id: other, state: "ended" }));
      return [...ended, { type: "fact", space, id, state }];
    }
    case "end_fact": {
      const { space, id, state } = done.fact;
      return [{ type: "fact", space, id, state }];
    }
    case "promote":
      return write.op === "promote" ? [{ type: "promoted", space: write.to, ids: done.ids }] : [];
    case "amend": {
      if (write.op !== "amend" || write.name === undefined || write.name === write.entry.name) return [];
      const { entry } = write;
      if (entry.kind === "session") return [{ type: "renamed", space: entry.space, session: entry.name }];
      return [{ type: "renamed", space: { [entry.kind]: entry.name } as SpaceRef }];
    }
    case "replay":
      if (write.op !== "replay" || !("space" in write.which) || done.replayed === 0) return [];
      return [{ type: "replayed", space: write.which.space, items: done.replayed }];
    default:
      return [];
  }
}
