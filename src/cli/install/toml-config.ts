/**
 * An entry in a TOML file. It is a section of its own, `[servers.name]`, with those under it; a new one goes to the end of
 * the file. Of everything else no byte changes: the text is read before and after, and must say the same but for the
 * entry. Tables that are written in other ways (inline, with dotted keys) are refused.
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

/** The sections that make up the entry, in the order of the file. */
function ourSections(text: string, slot: Slot, found: unknown): readonly Section[] {
  const sections = sectionsOf(text).filter(({ path }) => path[0] === slot.key && path[1] === slot.name);
  if (found !== undefined && sections.length === 0) throw notSafe(slot);
  return sections;
}

/** After an empty line. A file that ends without a line break goes on doing so. */
function appended(text: string, written: string, lineEnd: string): string {
  if (text.trim() === "") return `${written}${lineEnd}`;
  return text.endsWith("\n") ? `${text}${lineEnd}${written}${lineEnd}` : `${text}${lineEnd}${lineEnd}${written}`;
}

/** Without the section, the empty line before it and its own line break. */
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
    // Its own message shows the lines around, which may hold secrets.
    throw new HoldfastError("config", `${file} is no valid TOML: line ${cause.line}, ${what}`, {
      hint: "mend it first; it was not touched",
      details: { file, line: cause.line },
    });
  }
}

function serversOf(whole: TomlTable, { file, key }: Slot): Table {
  if (!Object.hasOwn(whole, key)) return {};
  const servers = whole[key];
  if (isTable(servers)) return servers;
  throw new HoldfastError("config", `${file}: “${key}” is no table`, {
    hint: "mend it first; it was not touched",
    details: { file },
  });
}

/** Nothing but the entry may differ. */
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
    throw notSafe(slot, cause); // `before` could be read: the change has broken it
  }
  if (!isSafe) throw notSafe(slot);
  return after;
}

/** What the two say as TOML: the parser's tables have no prototype, and its numbers are big ones. */
function isSame(found: unknown, entry: unknown): boolean {
  const read = (value: unknown): TomlTable =>
    parse(value === undefined ? "" : stringify({ entry: value }), { integersAsBigInt: true });
  return isDeepStrictEqual(read(found), read(entry));
}

function notSafe({ file, key }: Slot, cause?: unknown): HoldfastError {
  return new HoldfastError("unsupported", `${file} spells “${key}” in a way that cannot be changed safely`, {
    hint: "--print shows what to paste; the file was not touched",
    details: { file },
    cause,
  });
}
