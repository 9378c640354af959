/**
 * Edits an entry in a JSON file, which may have comments and trailing commas. Only the bytes of the entry change; comments,
 * order and indentation around it are kept. (The parser's own `modify` also reformats neighbours.) Every result is parsed
 * and compared before it is returned.
 */
import { isDeepStrictEqual } from "node:util";
import { getNodeValue, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { HoldfastError } from "../../errors.js";
import { isTable, type Slot, type Table } from "./entry.js";
import { insertMember, layoutOf, removeMember, replaceValue } from "./json-text.js";

export function jsonEntry(text: string, slot: Slot): unknown {
  const entry = memberOf(serversOf(rootOf(text, slot), slot), slot.name, slot);
  return entry && getNodeValue(entry);
}

export function withJsonEntry(text: string, slot: Slot, entry: Table): string {
  const whole = text.trim() === "" ? "{}" : text;
  const start = serversOf(rootOf(whole, slot), slot) ? whole : withMember(whole, [], slot.key, {}, slot);
  const after = withMember(start, [slot.key], slot.name, entry, slot);
  const written = text.trim() === "" ? `${after}\n` : after;
  return checked(text, written, slot, entry);
}

/** Also removes the table of servers if it becomes empty and has no comments. */
export function withoutJsonEntry(text: string, slot: Slot): string {
  const servers = serversOf(rootOf(text, slot), slot);
  if (!servers || !memberOf(servers, slot.name, slot)) return text;
  const after = removeMember(text, servers, indexOf(servers, slot.name));
  const root = rootOf(after, slot);
  const at = indexOf(root, slot.key);
  const left = root.children?.[at];
  const isBare = left !== undefined && /^"[^"]*"\s*:\s*\{\}$/.test(after.slice(left.offset, left.offset + left.length));
  return checked(text, isBare ? removeMember(after, root, at) : after, slot, undefined);
}

export function jsonSnippet({ key, name }: Slot, entry: Table): string {
  return `${JSON.stringify({ [key]: { [name]: entry } }, undefined, 2)}\n`;
}

/** The text with this member set in the table at `path`. */
function withMember(text: string, path: readonly string[], name: string, value: unknown, slot: Slot): string {
  const root = rootOf(text, slot);
  const table = nodeAt(root, path, slot);
  const node = memberOf(table, name, slot);
  if (!node) return insertMember(text, table, name, value, layoutOf(text, root));
  if (node.type !== "object" || !isTable(value)) {
    return isDeepStrictEqual(plain(getNodeValue(node)), plain(value))
      ? text
      : replaceValue(text, table, node, value, layoutOf(text, root));
  }
  const inner = [...path, name];
  const names = (node.children ?? []).map((property) => String(property.children?.[0]?.value));
  const gone = names.filter((one) => !Object.hasOwn(value, one));
  let after = text;
  for (const [key, one] of Object.entries(value)) after = withMember(after, inner, key, one, slot);
  for (const key of gone) {
    const parent = nodeAt(rootOf(after, slot), inner, slot);
    after = removeMember(after, parent, indexOf(parent, key));
  }
  return after;
}

function rootOf(text: string, slot: Slot): Node {
  const errors: ParseError[] = [];
  const root = text.trim() === "" ? EMPTY : parseTree(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error) {
    const line = text.slice(0, error.offset).split("\n").length;
    throw new HoldfastError(
      "config",
      `${slot.file} is not valid JSON: line ${line}, ${printParseErrorCode(error.error)}`,
      {
        hint: "fix it first; the file was not changed",
        details: { file: slot.file, line },
      },
    );
  }
  if (root?.type !== "object") throw notATable(slot, "the file");
  return root;
}

const EMPTY: Node = { type: "object", offset: 0, length: 0, children: [] };

/** The table of servers, if it exists. */
function serversOf(root: Node, slot: Slot): Node | undefined {
  const node = memberOf(root, slot.key, slot);
  if (node && node.type !== "object") throw notATable(slot, `“${slot.key}”`);
  return node;
}

function nodeAt(root: Node, path: readonly string[], slot: Slot): Node {
  let node = root;
  for (const key of path) {
    const child = memberOf(node, key, slot);
    if (child?.type !== "object") throw notATable(slot, `“${key}”`);
    node = child;
  }
  return node;
}

/** The value of a member. A duplicate name is refused: it is unclear which one counts. */
function memberOf(table: Node | undefined, name: string, { file }: Slot): Node | undefined {
  const found = (table?.children ?? []).filter((property) => property.children?.[0]?.value === name);
  if (found.length > 1) {
    throw new HoldfastError("config", `${file} contains “${name}” twice`, {
      hint: "remove one of them; the file was not changed",
      details: { file },
    });
  }
  return found[0]?.children?.[1];
}

function indexOf(table: Node, name: string): number {
  return (table.children ?? []).findIndex((property) => property.children?.[0]?.value === name);
}

function notATable({ file }: Slot, what: string): HoldfastError {
  return new HoldfastError("config", `${file}: ${what} is not a JSON object`, {
    hint: "fix it first; the file was not changed",
    details: { file },
  });
}

/** Ensures that only the entry differs. */
function checked(before: string, after: string, slot: Slot, entry: Table | undefined): string {
  const { [slot.key]: _, ...others } = getNodeValue(rootOf(before, slot)) as Table;
  const servers = (text: string): Table => {
    const node = serversOf(rootOf(text, slot), slot);
    const { [slot.name]: _entry, ...rest } = node ? (getNodeValue(node) as Table) : {};
    return rest;
  };
  const { [slot.key]: _after, ...othersAfter } = getNodeValue(rootOf(after, slot)) as Table;
  const isSame =
    isDeepStrictEqual(others, othersAfter) &&
    isDeepStrictEqual(servers(before), servers(after)) &&
    isDeepStrictEqual(plain(jsonEntry(after, slot)), plain(entry));
  if (isSame) return after;
  throw new HoldfastError("unsupported", `${slot.file} is written in a way that cannot be changed safely`, {
    hint: "--print shows what to paste; the file was not changed",
    details: { file: slot.file },
  });
}

/** Normalises the parser's objects, which have no prototype. */
const plain = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));
