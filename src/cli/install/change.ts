/** Change: what is to be changed in a client's file, worked out before anything is written. */
import { HoldfastError } from "../../errors.js";
import { type Client, projectFile, userFile } from "./client.js";
import { ConfigFile } from "./config-file.js";
import { type Entry, entryTable, isOurs, isTable, passedBy, type Slot, type Table } from "./entry.js";
import { jsonEntry, jsonSnippet, withJsonEntry, withoutJsonEntry } from "./json-config.js";
import type { Machine } from "./machine.js";
import { tomlEntry, tomlSnippet, withoutTomlEntry, withTomlEntry } from "./toml-config.js";

export interface Wish {
  readonly client: Client;
  /** Of the entry. */
  readonly name: string;
  /** In the project's file, not in the person's. */
  readonly isProject: boolean;
}

export interface Change {
  readonly action: "add" | "change" | "remove" | "none";
  readonly file: ConfigFile;
  /** The file's text afterwards. */
  readonly after: string;
  /** What the entry that was there passes on, where it goes on doing so. */
  readonly kept?: readonly string[];
}

const FORMATS = {
  json: { entryIn: jsonEntry, withEntry: withJsonEntry, withoutEntry: withoutJsonEntry, snippet: jsonSnippet },
  toml: { entryIn: tomlEntry, withEntry: withTomlEntry, withoutEntry: withoutTomlEntry, snippet: tomlSnippet },
} as const;

export function slotOf({ client, name, isProject }: Wish, machine: Machine): Slot {
  const file = isProject ? projectFile(client, machine) : userFile(client, machine);
  return { file, key: client.key, name };
}

/** What a person would paste. */
export function snippetOf(wish: Wish, entry: Entry, machine: Machine): string {
  return FORMATS[wish.client.format].snippet(slotOf(wish, machine), entryTable(wish.client, checkedEntry(wish, entry)));
}

/** The entry that is there, whoever has written it. */
export function entryAt({ client: { format } }: Wish, slot: Slot): unknown {
  return FORMATS[format].entryIn(new ConfigFile(slot.file).text, slot);
}

export function installation(wish: Wish, entry: Entry, machine: Machine, isForced: boolean): Change {
  const slot = slotOf(wish, machine);
  const file = new ConfigFile(slot.file);
  const { entryIn, withEntry } = FORMATS[wish.client.format];
  const found = entryIn(file.text, slot);
  requireOurs(found, slot, isForced);
  const ours: Table = isOurs(found) && isTable(found) ? found : {};
  const after = withEntry(file.text, slot, entryTable(wish.client, checkedEntry(wish, entry), ours));
  const kept = entry.isBare ? passedBy(ours) : [];
  const action = after === file.text ? "none" : found === undefined ? "add" : "change";
  return { action, file, after, ...(kept.length > 0 && { kept }) };
}

export function removal(wish: Wish, machine: Machine, isForced: boolean): Change {
  const usual = slotOf(wish, machine);
  // Of several files the client may once have read another one.
  const slots = wish.isProject ? [usual] : wish.client.userFiles(machine).map((file) => ({ ...usual, file }));
  const slot = slots.find((one) => entryAt(wish, one) !== undefined) ?? usual;
  const file = new ConfigFile(slot.file);
  const { entryIn, withoutEntry } = FORMATS[wish.client.format];
  const found = entryIn(file.text, slot);
  requireOurs(found, slot, isForced);
  return { action: found === undefined ? "none" : "remove", file, after: withoutEntry(file.text, slot) };
}

function requireOurs(found: unknown, { file, name }: Slot, isForced: boolean): void {
  if (found === undefined || isOurs(found) || isForced) return;
  throw new HoldfastError("conflict", `${file} has an entry “${name}” that does not run holdfast mcp`, {
    hint: "choose another name with --name, or take its place with --force (the way, too, if it is a Holdfast in a folder of another name)",
    details: { file, name },
  });
}

/** A client would make something else of a text that looks like a variable. */
function checkedEntry({ client: { title, expands } }: Wish, entry: Entry): Entry {
  const texts = [entry.command, ...entry.args, entry.key ?? ""];
  if (!expands || !texts.some((text) => expands.test(text))) return entry;
  throw new HoldfastError(
    "unsupported",
    `${title} would take a part of a path or a name for a variable, because of its $`,
    {
      hint: "choose one without a $",
    },
  );
}
