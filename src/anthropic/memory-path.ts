/**
 * Paths under /memories ⇄ names of blocks.
 *
 * - `/memories/` + a block's name, verbatim, is its path. Nothing is decoded, resolved or normalised, so two paths are never
 *   one block, and there is nothing to escape from.
 * - What a file system, a shell or a URL would resolve is refused, lest it mean something else elsewhere. A block with such
 *   a name, given to it by other means, has no path.
 * - A slash at the end means a directory. Without one a path is that of a file, or of a directory if there is no such file.
 */
import { NAME_UNITS_MAX } from "../input/limits.js";
import { isSoundIdentity } from "../text.js";
import { MemoryToolError, quoted } from "./memory-tool-error.js";

export const ROOT = "/memories";

export interface MemoryPath {
  /** As the model wrote it. */
  readonly path: string;
  /** The block's name, or what the names below the directory start with; "" is the root. */
  readonly name: string;
  readonly isDirectory: boolean;
}

/** Breaks out of a line, or out of the text around it. */
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u;
/** A dot, a slash, a backslash or a control character in the encoding of URLs, also if it was encoded several times. */
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

/** Whether there is a path to the block of this name. */
export const hasPath = (name: string): boolean => problemOf(name) === undefined;

export const pathOf = (name: string): string => `${ROOT}/${name}`;

/** The directories that a file or directory of this name lies in, the root left out. */
export function parentsOf(name: string): readonly string[] {
  const segments = name.split("/");
  return segments.slice(1).map((_, index) => segments.slice(0, index + 1).join("/"));
}

function problemOf(name: string): string | undefined {
  const segments = name.split("/");
  if (segments.includes("..")) return "escapes";
  if (segments.includes("") || segments.includes(".")) return "it has an empty part, or one that is only a dot";
  if (name.includes("\\")) return "it has a backslash";
  if (CONTROL.test(name) || !isSoundIdentity(name)) return "it has control characters";
  if (ENCODED.test(name)) return "it has encoded characters (%2e, %2f); nothing is decoded";
  if (name.length > NAME_UNITS_MAX) return `it is longer than ${NAME_UNITS_MAX} characters`;
  return undefined;
}

/** A path that was refused, on one line. */
const shown = (path: string): string =>
  quoted(path.toWellFormed()).replace(
    /[\p{Cc}\p{Zl}\p{Zp}]/gu,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
