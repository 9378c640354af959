/**
 * The ways to change a block's text. Each makes a new text from the old one and has no other effect. A change that
 * cannot be applied exactly is refused.
 */
import { HoldfastError } from "../errors.js";
import { parseText } from "../input/content.js";
import { parseInteger } from "../input/integer.js";
import { BLOCK_LINES_MAX, CONTENT_BYTES_MAX } from "../input/limits.js";
import { invalid, objectWith, tooLarge, wrongType } from "../input/refusal.js";
import { countLines, fitsBytes } from "../text.js";
import { applyPatch } from "./patch.js";

/** A change of a block's text: one of five forms. */
export type BlockChange =
  /** Replaces the whole text. */
  | { readonly content: string }
  /** Appends on a new line. */
  | { readonly append: string }
  /** Replaces exactly this text, which must occur once, or all its occurrences. */
  | { readonly replace: string; readonly with: string; readonly all?: boolean }
  /** Inserts on new lines after this line, counted from 1; 0 is the top. */
  | { readonly insert: string; readonly line: number }
  /** Applies a unified diff. */
  | { readonly patch: string };

const FORMS = ["content", "append", "replace", "insert", "patch"] as const;
/** Keys that belong to one of the forms. */
const COMPANIONS = { with: "replace", all: "replace", line: "insert" } as const;
export const CHANGE_KEYS: ReadonlySet<string> = new Set([...FORMS, ...Object.keys(COMPANIONS)]);

export function parseChange(value: unknown, where = "change"): BlockChange {
  const fields = objectWith(value, CHANGE_KEYS, where);
  const forms = FORMS.filter((form) => fields[form] !== undefined);
  const [form] = forms;
  if (form === undefined || forms.length > 1) {
    const problem = form === undefined ? "changes nothing" : `asks for several changes: ${forms.join(", ")}`;
    throw invalid(where, problem, `give exactly one of ${FORMS.join(", ")}`);
  }
  for (const [key, owner] of Object.entries(COMPANIONS)) {
    if (fields[key] !== undefined && owner !== form) throw invalid(`${where}.${key}`, `is only valid with ${owner}`);
  }
  const text = textOf(fields[form], `${where}.${form}`);
  if (form === "content") return { content: text };
  if (form === "append") return { append: text };
  if (form === "patch") return { patch: text };
  const { line, with: replacement, all } = fields;
  if (form === "insert") {
    return { insert: text, line: parseInteger(line, `${where}.line`, 0, Number.MAX_SAFE_INTEGER) };
  }
  if (text === "") throw emptyReplace(`${where}.replace`);
  if (all !== undefined && typeof all !== "boolean") throw wrongType(`${where}.all`, "true or false", all);
  const other = textOf(replacement, `${where}.with`, 'to remove the text give an empty one: with: ""');
  return { replace: text, with: other, ...(all !== undefined && { all }) };
}

function textOf(value: unknown, where: string, hint?: string): string {
  if (typeof value !== "string") throw wrongType(where, "a string", value, hint);
  return parseBlockText(value, where);
}

/** The text of a block, or one that becomes a part of it. */
export function parseBlockText(value: string, where: string): string {
  const text = parseText(value, where);
  if (countLines(text) > BLOCK_LINES_MAX) throw tooManyLines(where);
  return text;
}

/**
 * The text after the change. Errors: `invalid_input` or `too_large` if the change is malformed or the result too long;
 * `not_found` if the text to replace does not occur; `conflict` if it occurs more than once (details.count) or a patch
 * does not apply.
 */
export function applyChange(content: string, change: BlockChange): string {
  const changed = changedText(content, change);
  if (!fitsBytes(changed, CONTENT_BYTES_MAX)) throw tooLargeText();
  if (countLines(changed) > BLOCK_LINES_MAX) throw tooManyLines("content");
  return changed;
}

function changedText(content: string, change: BlockChange): string {
  if ("content" in change) return change.content;
  if ("append" in change) return joinLines(content, change.append);
  if ("patch" in change) return applyPatch(content, change.patch);
  if ("insert" in change) return inserted(content, change.insert, change.line);
  return change.all ? replacedAll(content, change.replace, change.with) : replacedOnce(content, change);
}

/** Joins two texts, the second on a new line. An empty text adds nothing. */
function joinLines(first: string, second: string): string {
  const isApart = first === "" || second === "" || first.endsWith("\n");
  return isApart ? first + second : `${first}\n${second}`;
}

function inserted(content: string, text: string, line: number): string {
  const lines = content.split(/(?<=\n)/);
  const count = content === "" ? 0 : lines.length;
  if (!Number.isInteger(line) || line < 0 || line > count) {
    throw new HoldfastError("invalid_input", `line must be a whole number from 0 to ${count}, got ${line}`, {
      hint: `the block has ${count} lines; the text is inserted after the line, 0 is the top`,
      details: { field: "line", lines: count },
    });
  }
  return joinLines(joinLines(lines.slice(0, line).join(""), text), lines.slice(line).join(""));
}

function replacedOnce(content: string, change: { readonly replace: string; readonly with: string }): string {
  const { replace } = change;
  const at = firstOf(content, replace);
  if (content.includes(replace, at + 1)) {
    // `split` counts overlapping occurrences once, but they are two places to choose from.
    const count = Math.max(2, content.split(replace).length - 1);
    throw new HoldfastError("conflict", `the text to replace occurs ${count} times in the block`, {
      hint: "give more of the text around it, or all: true",
      details: { field: "replace", count },
    });
  }
  return content.slice(0, at) + change.with + content.slice(at + replace.length);
}

function replacedAll(content: string, replace: string, replacement: string): string {
  firstOf(content, replace);
  const parts = content.split(replace);
  const length = content.length + (parts.length - 1) * (replacement.length - replace.length);
  // Checked before the text is built: it may be too long for a string.
  if (length > CONTENT_BYTES_MAX) throw tooLargeText();
  return parts.join(replacement);
}

function firstOf(content: string, replace: string): number {
  if (replace === "") throw emptyReplace("replace");
  const at = content.indexOf(replace);
  if (at >= 0) return at;
  throw new HoldfastError("not_found", "the text to replace does not occur in the block", {
    hint: "read the block again and repeat its text exactly, white space included",
    details: { field: "replace" },
  });
}

function emptyReplace(where: string): HoldfastError {
  return invalid(where, "must not be empty", "to add text use append or insert");
}

const tooManyLines = (where: string): HoldfastError =>
  tooLarge(where, `${BLOCK_LINES_MAX} lines`, "keep less in the block, or divide it into several");

function tooLargeText(): HoldfastError {
  const limit = `${CONTENT_BYTES_MAX / 1024 / 1024} MiB of text`;
  return tooLarge("content", limit, "keep less in the block, or divide it into several");
}
