/**
 * Parses the content of a message: text, or a list of parts. Text parts are searchable; other parts are stored and
 * represented by a description.
 */
import { fitsBytes, repairText } from "../text.js";
import type { Json, Part } from "../types.js";
import { copyJson } from "./json.js";
import { CONTENT_BYTES_MAX } from "./limits.js";
import { invalid, tooLarge, wrongType } from "./refusal.js";

export interface ParsedContent {
  readonly content: string;
  readonly parts?: readonly Part[];
}

/** The fields in which hosts describe a picture or a file, best first. */
const DESCRIPTIONS = ["description", "alt", "name", "filename", "title"] as const;
const TOO_LARGE_HINT = "split it into several messages, or keep the large thing elsewhere and store where it is";
const RULES = { bytesMax: CONTENT_BYTES_MAX, tooLargeHint: TOO_LARGE_HINT, dropUndefined: true };

export function parseContent(value: unknown, where: string): ParsedContent {
  if (typeof value === "string") return { content: parseText(value, where) };
  if (Array.isArray(value)) return parseParts(value, where);
  throw wrongType(where, "a string or a list of parts", value, "for a message without text use an empty string");
}

export function parseText(value: string, where: string): string {
  const text = repairText(value);
  if (!fitsBytes(text, CONTENT_BYTES_MAX)) {
    throw tooLarge(where, `${CONTENT_BYTES_MAX / 1024 / 1024} MiB of text`, TOO_LARGE_HINT);
  }
  return text;
}

/** The joined text is shorter than the parts as JSON, so the limit on the parts bounds it too. */
function parseParts(value: readonly unknown[], where: string): ParsedContent {
  const parts = copyJson(value, where, RULES) as readonly Json[];
  const content = parts.map((part, index) => textOf(part, `${where}[${index}]`)).join("\n");
  return { content, parts: parts as readonly Part[] };
}

function textOf(part: Json, where: string): string {
  if (typeof part !== "object" || part === null || Array.isArray(part)) {
    throw wrongType(where, "a part", part, 'for example { type: "text", text: "…" }');
  }
  const { type, text, description } = part as { readonly [key: string]: Json };
  if (typeof type !== "string") throw wrongType(`${where}.type`, "a string", type, 'for example "text" or "image"');
  if (type === "") throw invalid(`${where}.type`, "must not be empty", 'for example "text" or "image"');
  if (type === "text") {
    if (typeof text !== "string") throw wrongType(`${where}.text`, "a string", text);
    return text;
  }
  if (description !== undefined && typeof description !== "string") {
    throw wrongType(`${where}.description`, "a string", description);
  }
  const label = DESCRIPTIONS.map((key) => (part as { readonly [key: string]: Json })[key]).find(isTelling);
  return label === undefined ? `[${type}]` : `[${type}: ${label}]`;
}

function isTelling(value: Json | undefined): value is string {
  return typeof value === "string" && value.trim() !== "";
}
