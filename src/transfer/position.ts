/**
 * The position of an export, encoded as a cursor. A cursor is opaque and bound to the export's options.
 *
 * A cursor grants no access: the options of each call decide which spaces are read, so a forged cursor reaches nothing that
 * the call could not reach anyway.
 */
import { createHash } from "node:crypto";
import { HoldfastError } from "../errors.js";
import type { SpaceRef } from "../types.js";
import { type Counts, NO_COUNTS } from "./format.js";

/** A position among the spaces: the list (a kind of space, or an index into the requested spaces) and the place in it. */
export interface Walk {
  readonly list: number;
  readonly cursor?: string;
}

export interface Position {
  /** First all entries, then the contents of each space. */
  readonly stage: "entries" | "contents";
  readonly walk: Walk;
  /** Within a space: its registry id, the section, and the place in it. */
  readonly space?: string;
  readonly section?: string;
  readonly cursor?: string;
}

export interface Mark {
  readonly position: Position;
  readonly counts: Counts;
}

export const START: Position = { stage: "entries", walk: { list: 0 } };

/** A digest of the requested spaces and session. */
export function selectionOf(spaces: readonly SpaceRef[] | undefined, session: string | undefined): string {
  return createHash("sha256")
    .update(JSON.stringify([spaces ?? null, session ?? null]))
    .digest("base64url")
    .slice(0, 16);
}

export function encodeMark({ position, counts }: Mark, of: string): string {
  return Buffer.from(JSON.stringify([of, position, counts])).toString("base64url");
}

export function decodeMark(cursor: string, of: string): Mark {
  const [selection, position, counts] = parsed(cursor);
  if (!isPosition(position) || !isCounts(counts)) throw badCursor("is not a cursor of an export");
  if (selection !== of) throw badCursor("belongs to an export of other spaces");
  return { position, counts };
}

function parsed(cursor: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    return Array.isArray(value) ? value : [];
  } catch {
    return []; // refused by the caller
  }
}

function isPosition(value: unknown): value is Position {
  if (typeof value !== "object" || value === null) return false;
  const { stage, walk, space, section, cursor } = value as { readonly [key: string]: unknown };
  if (stage !== "entries" && stage !== "contents") return false;
  if (typeof walk !== "object" || walk === null) return false;
  const { list, cursor: place } = walk as { readonly [key: string]: unknown };
  const isList = Number.isSafeInteger(list) && Number(list) >= 0;
  return isList && [place, space, section, cursor].every((text) => text === undefined || typeof text === "string");
}

function isCounts(value: unknown): value is Counts {
  if (typeof value !== "object" || value === null) return false;
  return Object.keys(NO_COUNTS).every((type) => Number.isSafeInteger((value as { [key: string]: unknown })[type]));
}

function badCursor(problem: string): HoldfastError {
  return new HoldfastError("invalid_input", `options.cursor ${problem}`, {
    hint: "pass the cursor of the last cursor line unchanged, with the same options, or omit it to start over",
    details: { field: "options.cursor" },
  });
}
