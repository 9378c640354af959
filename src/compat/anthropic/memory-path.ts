/**
 * Converts between paths under /memories and names of blocks.
 *
 * - The path of a block is `/memories/` and its name, verbatim. Nothing is decoded, resolved or normalised, so two paths never
 *   name one block, and there is nothing to escape from.
 * - Anything that a file system, a shell or a URL would resolve is refused, because it could mean something else elsewhere. A
 *   block that was given such a name by other means has no path.
 * - A trailing slash means a directory. Without one, a path names a file, or a directory if there is no such file.
 */
import { NAME_UNITS_MAX } from "../../input/limits.js";
import { isSoundIdentity } from "../../text.js";
import { MemoryToolError, quoted } from "./memory-tool-error.js";

export const ROOT = "/memories";

export interface MemoryPath {
  /** As written by the model. */
  readonly path: string;
  /** The block's name, or the directory's prefix; "" is the root. */
  readonly name: string;
  readonly isDirectory: boolean;
}

/** Characters that break out of a line or of the surrounding text. */
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u;
/** A percent-encoded dot, slash, backslash or control character, even if encoded several times. */
const ENCODED = /%(?:25)*(?:2e|2f|5c|7f|[01][\da-f])/i;

export function parsePath(value: string): MemoryPath {
  if (value !== ROOT && !value.startsWith(`${ROOT}/`)) {
    throw new MemoryToolError("invalid_input", `Path must start with ${ROOT}, got: ${shown(value)}`);
  }
  const isRoot = value === ROOT || value === `${ROOT}/`;
  const name = value.slice(ROOT.length + 1).replace(/\/$/, "");
  const problem = isRoot ? undefined : problemOf(name);
  if (problem === undefined) return { path: value, name, isDirectory: isRoot || value.endsWith("/") };
  if (problem === "escapes") {
    throw new MemoryToolError("invalid_input", `Path ${shown(value)} would escape ${ROOT} directory`);
  }
  throw new MemoryToolError(
    "invalid_input",
    `Path ${shown(value)} is not valid: ${problem}. Write it like ${ROOT}/notes.md or ${ROOT}/projects/plan.md`,
  );
}

/** Whether the block of this name has a path. */
export const hasPath = (name: string): boolean => problemOf(name) === undefined;

export const pathOf = (name: string): string => `${ROOT}/${name}`;

/** The parent directories of this name, without the root. */
export function parentsOf(name: string): readonly string[] {
  const segments = name.split("/");
  return segments.slice(1).map((_, index) => segments.slice(0, index + 1).join("/"));
}

function problemOf(name: string): string | undefined {
  const segments = name.split("/");
  if (segments.includes("..")) return "escapes";
  if (segments.includes("") || segments.includes(".")) return "it has an empty part, or a part that is only a dot";
  if (name.includes("\\")) return "it contains a backslash";
  if (CONTROL.test(name) || !isSoundIdentity(name)) return "it contains control characters";
  if (ENCODED.test(name)) return "it contains encoded characters (%2e, %2f), which are not decoded";
  if (name.length > NAME_UNITS_MAX) return `it is longer than ${NAME_UNITS_MAX} characters`;
  return undefined;
}

/** A refused path, on one line. */
const shown = (path: string): string =>
  quoted(path.toWellFormed()).replace(
    /[\p{Cc}\p{Zl}\p{Zp}]/gu,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
