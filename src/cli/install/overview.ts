/** Overview: which clients are installed, and which have an entry of ours. */
import { HoldfastError } from "../../errors.js";
import { entryAt, slotOf } from "./change.js";
import { CLIENTS, isPresent } from "./client.js";
import { isOurs, isTable } from "./entry.js";
import { missingFiles } from "./launch.js";
import type { Machine } from "./machine.js";

/** `stale`: its program no longer exists. `taken`: the entry is not ours. `unreadable`: the file is broken. */
export type EntryState = "ready" | "stale" | "taken" | "none" | "unreadable";

export interface ClientState {
  readonly name: string;
  readonly title: string;
  readonly present: boolean;
  readonly entry: EntryState;
  readonly file: string;
}

export function overviewOf(name: string, machine: Machine): readonly ClientState[] {
  return CLIENTS.map((client) => {
    const target = { client, name, isProject: false };
    const slot = slotOf(target, machine);
    const entry = stateOf(() => entryAt(target, slot));
    return { name: client.name, title: client.title, present: isPresent(client, machine), entry, file: slot.file };
  });
}

function stateOf(read: () => unknown): EntryState {
  let found: unknown;
  try {
    found = read();
  } catch (error) {
    if (isUnreadable(error)) return "unreadable";
    throw error;
  }
  if (found === undefined) return "none";
  if (!isOurs(found) || !isTable(found)) return "taken";
  return missingFiles(found["command"], found["args"]).length > 0 ? "stale" : "ready";
}

/** Broken, or not readable for us. One such file must not prevent listing the others. */
function isUnreadable(error: unknown): boolean {
  return error instanceof HoldfastError || (error instanceof Error && "syscall" in error);
}
