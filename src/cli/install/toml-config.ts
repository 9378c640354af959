/**
 * Edits an entry in a TOML file. The entry is a section, `[servers.name]`, with its subsections; a new one is appended to the
 * file. No other byte changes: the text is parsed before and after, and only the entry may differ. Tables written in other
 * ways (inline, with dotted keys) are refused.
 */
import { isDeepStrictEqual } from "node:util";
import { parse, stringify, TomlError, type TomlTable } from "smol-toml";
import { HoldfastError } from "../../errors.js";
import { isTable, type Slot, type Table } from "./entry.js";
import { type Section, sectionsOf } from "./toml-text.js";

export function tomlEntry(text: string, slot: Slot): unknown {
  const servers = serversOf(parsed(text, slot), slot);
  return Object.hasOwn(servers, slot.name) ? servers[slot.name] : undefined;
}

export function withTomlEntry(text: string, slot: Slot, entry: Table): string {
  const found = tomlEntry(text, slot);
  if (found !== undefined && isSame(found, entry)) return text;
  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  const written = tomlSnippet(slot, entry).trimEnd().replaceAll("\n", lineEnd);
  const [first, ...others] = ourSections(text, slot, found);
  if (!first) return checked(text, appended(text, written, lineEnd), slot, entry);
  const shortened = others.reduceRight(withoutSection, text);
  return checked(text, shortened.slice(0, first.start) + written + shortened.slice(first.end), slot, entry);
}

export function withoutTomlEntry(text: string, slot: Slot): string {
  const found = tomlEntry(text, slot);
  if (found === undefined) return text;
  return checked(text, ourSections(text, slot, found).reduceRight(withoutSection, text), slot, undefined);
}

export function tomlSnippet({ key, name }: Slot, entry: Table): string {
  return `${stringify({ [key]: { [name]: entry } }).trim()}\n`;
}

/** The sections of the entry, in the order of the file. */
function ourSections(text: string, slot: Slot, found: unknown): readonly Section[] {
  const sections = sectionsOf(text).filter(({ path }) => path[0] === slot.key && path[1] === slot.name);
  if (found !== undefined && sections.length === 0) throw notSafe(slot);
  return sections;
}

/** Appends after an empty line. A file without a trailing line break stays without one. */
function appended(text: string, written: string, lineEnd: string): string {
  if (text.trim() === "") return `${written}${lineEnd}`;
  return text.endsWith("\n") ? `${text}${lineEnd}${written}${lineEnd}` : `${text}${lineEnd}${lineEnd}${written}`;
}

/** Removes the section, the empty line before it and its line break. */
function withoutSection(text: string, { start, end }: Section): string {
  const [ownBreak = ""] = /^\r?\n/.exec(text.slice(end)) ?? [];
  const [space = ""] = (ownBreak === "" ? /(\r?\n){0,2}$/ : /(?<=\n)\r?\n$|^\r?\n$/).exec(text.slice(0, start)) ?? [];
  return text.slice(0, start - space.length) + text.slice(end + ownBreak.length);
}

function parsed(text: string, { file }: Slot): TomlTable {
  try {
    return parse(text, { integersAsBigInt: true });
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const [what = ""] = cause.message.replace(/^Invalid TOML document: /, "").split("\n");
    // The parser's message shows the lines around the error, which may contain secrets.
    throw new HoldfastError("config", `${file} is not valid TOML: line ${cause.line}, ${what}`, {
      hint: "fix it first; the file was not changed",
      details: { file, line: cause.line },
    });
  }
}

function serversOf(whole: TomlTable, { file, key }: Slot): Table {
  if (!Object.hasOwn(whole, key)) return {};
  const servers = whole[key];
  if (isTable(servers)) return servers;
  throw new HoldfastError("config", `${file}: “${key}” is not a table`, {
    hint: "fix it first; the file was not changed",
    details: { file },
  });
}

/** Ensures that only the entry differs. */
function checked(before: string, after: string, slot: Slot, entry: Table | undefined): string {
  const others = (text: string): Table => {
    const { [slot.key]: servers = {}, ...rest } = parsed(text, slot);
    const { [slot.name]: _, ...neighbours } = servers as Table;
    return { ...rest, [slot.key]: neighbours };
  };
  let isSafe: boolean;
  try {
    isSafe = isDeepStrictEqual(others(before), others(after)) && isSame(tomlEntry(after, slot), entry);
  } catch (cause) {
    throw notSafe(slot, cause); // `before` was valid: the change broke it
  }
  if (!isSafe) throw notSafe(slot);
  return after;
}

/** Compares as TOML: the parser's tables have no prototype, and its numbers are bigints. */
function isSame(found: unknown, entry: unknown): boolean {
  const read = (value: unknown): TomlTable =>
    parse(value === undefined ? "" : stringify({ entry: value }), { integersAsBigInt: true });
  return isDeepStrictEqual(read(found), read(entry));
}

function notSafe({ file, key }: Slot, cause?: unknown): HoldfastError {
  return new HoldfastError("unsupported", `${file} writes “${key}” in a way that cannot be changed safely`, {
    hint: "--print shows what to paste; the file was not changed",
    details: { file },
    cause,
  });
}
