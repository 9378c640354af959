/** Change: the planned change of a client's file. */
import { HoldfastError } from "../../errors.js";
import { type Client, projectFile, userFile } from "./client.js";
import { ConfigFile } from "./config-file.js";
import { entryTable, isOurs, isTable, passedBy, type ServerEntry, type Slot, type Table } from "./entry.js";
import { jsonEntry, jsonSnippet, withJsonEntry, withoutJsonEntry } from "./json-config.js";
import type { Machine } from "./machine.js";
import { tomlEntry, tomlSnippet, withoutTomlEntry, withTomlEntry } from "./toml-config.js";

export interface InstallTarget {
  readonly client: Client;
  /** The name of the entry. */
  readonly name: string;
  /** Use the project's file instead of the user's. */
  readonly isProject: boolean;
}

export interface Change {
  readonly action: "add" | "change" | "remove" | "none";
  readonly file: ConfigFile;
  /** The new text of the file. */
  readonly after: string;
  /** Arguments kept from the existing entry. */
  readonly kept?: readonly string[];
}

const FORMATS = {
  json: { entryIn: jsonEntry, withEntry: withJsonEntry, withoutEntry: withoutJsonEntry, snippet: jsonSnippet },
  toml: { entryIn: tomlEntry, withEntry: withTomlEntry, withoutEntry: withoutTomlEntry, snippet: tomlSnippet },
} as const;

export function slotOf({ client, name, isProject }: InstallTarget, machine: Machine): Slot {
  const file = isProject ? projectFile(client, machine) : userFile(client, machine);
  return { file, key: client.key, name };
}

/** What a user would paste. */
export function snippetOf(target: InstallTarget, entry: ServerEntry, machine: Machine): string {
  return FORMATS[target.client.format].snippet(
    slotOf(target, machine),
    entryTable(target.client, checkedEntry(target, entry)),
  );
}

/** The existing entry, ours or not. */
export function entryAt({ client: { format } }: InstallTarget, slot: Slot): unknown {
  return FORMATS[format].entryIn(new ConfigFile(slot.file).text, slot);
}

export function installation(target: InstallTarget, entry: ServerEntry, machine: Machine, isForced: boolean): Change {
  const slot = slotOf(target, machine);
  const file = new ConfigFile(slot.file);
  const { entryIn, withEntry } = FORMATS[target.client.format];
  const found = entryIn(file.text, slot);
  requireOurs(found, slot, isForced);
  const ours: Table = isOurs(found) && isTable(found) ? found : {};
  const after = withEntry(file.text, slot, entryTable(target.client, checkedEntry(target, entry), ours));
  const kept = entry.isBare ? passedBy(ours) : [];
  const action = after === file.text ? "none" : found === undefined ? "add" : "change";
  return { action, file, after, ...(kept.length > 0 && { kept }) };
}

export function removal(target: InstallTarget, machine: Machine, isForced: boolean): Change {
  const usual = slotOf(target, machine);
  // If there are several files, the client may have read another one earlier.
  const slots = target.isProject ? [usual] : target.client.userFiles(machine).map((file) => ({ ...usual, file }));
  const slot = slots.find((one) => entryAt(target, one) !== undefined) ?? usual;
  const file = new ConfigFile(slot.file);
  const { entryIn, withoutEntry } = FORMATS[target.client.format];
  const found = entryIn(file.text, slot);
  requireOurs(found, slot, isForced);
  return { action: found === undefined ? "none" : "remove", file, after: withoutEntry(file.text, slot) };
}

function requireOurs(found: unknown, { file, name }: Slot, isForced: boolean): void {
  if (found === undefined || isOurs(found) || isForced) return;
  throw new HoldfastError("conflict", `${file} has an entry “${name}” that does not run holdfast mcp`, {
    hint: "choose another name with --name, or replace it with --force (also if it is a Holdfast installed under another folder name)",
    details: { file, name },
  });
}

/** Refuses text that the client would expand as a variable. */
function checkedEntry({ client: { title, expands } }: InstallTarget, entry: ServerEntry): ServerEntry {
  const texts = [entry.command, ...entry.args, entry.key ?? ""];
  if (!expands || !texts.some((text) => expands.test(text))) return entry;
  throw new HoldfastError(
    "unsupported",
    `${title} would expand part of a path or name as a variable, because it contains $`,
    {
      hint: "use one without $",
    },
  );
}
