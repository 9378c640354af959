/**
 * Local edits of JSON text. Inserted text follows the layout around it; inserting and then removing a member restores the
 * text.
 */
import type { Node } from "jsonc-parser";

export interface Layout {
  readonly lineEnd: string;
  /** One level of indentation. */
  readonly step: string;
}

/** The layout of the first line in the root table. Comments before it do not matter. */
export function layoutOf(text: string, root: Node): Layout {
  const [first] = root.children ?? [];
  const start = text.slice(root.offset, first ? first.offset + 1 : endOf(root));
  const [, step = "  "] = /\n([ \t]+)\S/.exec(start) ?? [];
  return { lineEnd: text.includes("\r\n") ? "\r\n" : "\n", step };
}

/** Appends a member to a table. */
export function insertMember(text: string, table: Node, name: string, value: unknown, layout: Layout): string {
  const members = table.children ?? [];
  const last = members.at(-1);
  if (isFlat(text, table)) {
    const written = `${JSON.stringify(name)}:${JSON.stringify(value)}`;
    const [at, comma] = last ? [endOf(last), ","] : [table.offset + 1, ""];
    return splice(text, at, at, comma + written);
  }
  const indent = last ? indentAt(text, last.offset) : indentAt(text, table.offset) + layout.step;
  const written = `${layout.lineEnd}${indent}${JSON.stringify(name)}: ${pretty(value, indent, layout)}`;
  if (!last) {
    const start = table.offset + 1;
    const isOpen = text.slice(start, endOf(table) - 1).includes("\n");
    const close = isOpen ? "" : layout.lineEnd + indentAt(text, table.offset);
    return splice(text, start, start, written + close);
  }
  const { comma, lineRest } = after(text, endOf(last), endOf(table) - 1);
  if (comma !== undefined) return splice(text, lineRest, lineRest, `${written},`);
  return splice(splice(text, lineRest, lineRest, written), endOf(last), endOf(last), ",");
}

export function replaceValue(text: string, table: Node, node: Node, value: unknown, layout: Layout): string {
  const indent = indentAt(text, node.offset);
  const written = isFlat(text, table) ? JSON.stringify(value) : pretty(value, indent, layout);
  return splice(text, node.offset, endOf(node), written);
}

/** Removes the member with this index, its comma and its line. Comments are kept. */
export function removeMember(text: string, table: Node, index: number): string {
  const members = table.children ?? [];
  const member = members[index];
  if (!member) return text;
  const inside = table.offset + 1;
  const close = endOf(table) - 1;
  const { comma } = after(text, endOf(member), close);
  const end = comma === undefined ? endOf(member) : comma + 1;
  const kept = text.slice(endOf(member), end).trim().slice(0, -1); // a comment before the comma
  const isAlone = `${text.slice(inside, member.offset)}${kept}${text.slice(end, close)}`.trim() === "";
  if (isAlone) return splice(text, inside, close, "");
  const hasLine = kept === "" && /^[ \t]*(\r?\n|$)/.test(text.slice(end));
  const rest = splice(text, hasLine ? lineBreakBefore(text, member.offset) : member.offset, end, kept);
  const previous = members[index - 1];
  const before = previous && after(text, endOf(previous), member.offset).comma;
  // If the last member is removed, the comma before it would be trailing, unless the member had one itself.
  return comma === undefined && before !== undefined ? splice(rest, before, before + 1, "") : rest;
}

/** Whether the table is on one line. */
function isFlat(text: string, table: Node): boolean {
  if (text.slice(table.offset, endOf(table)).includes("\n")) return false;
  if ((table.children ?? []).length > 0) return true;
  return text.trim() !== "{}" && !text.trim().includes("\n");
}

/** What follows a member up to `end`: its comma, and the end of the rest of its line, including comments. */
function after(text: string, from: number, end: number): { readonly comma?: number; readonly lineRest: number } {
  let comma: number | undefined;
  let lineRest = from;
  let isSameLine = true;
  for (let at = from; at < end; ) {
    const [space = ""] = /^\s+/.exec(text.slice(at, end)) ?? [];
    const [comment = ""] = /^(\/\/[^\r\n]*|\/\*[\s\S]*?\*\/)/.exec(text.slice(at, end)) ?? [];
    if (space.includes("\n")) isSameLine = false;
    if (comment !== "" && isSameLine) lineRest = at + comment.length;
    if (text[at] === "," && comma === undefined) {
      comma = at;
      lineRest = at + 1;
      isSameLine = true;
      at += 1;
    } else if (space === "" && comment === "") break;
    else at += space.length + comment.length;
  }
  return { lineRest, ...(comma !== undefined && { comma }) };
}

/** Start of the line break and indentation before a member, or of the member itself if there is none. */
function lineBreakBefore(text: string, at: number): number {
  const [space = ""] = /\r?\n[ \t]*$/.exec(text.slice(0, at)) ?? [];
  return at - space.length;
}

/** The indentation of the line that `at` is on. */
function indentAt(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf("\n", at - 1) + 1, at);
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

function pretty(value: unknown, indent: string, { step, lineEnd }: Layout): string {
  return JSON.stringify(value, undefined, step).replaceAll("\n", lineEnd + indent);
}

const endOf = ({ offset, length }: Node): number => offset + length;
const splice = (text: string, start: number, end: number, put: string): string =>
  text.slice(0, start) + put + text.slice(end);
