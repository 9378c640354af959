/** What an import is told. */
import { parseChoice } from "../input/choice.js";
import { objectWith, wrongType } from "../input/refusal.js";
import { type ParsedScope, parseScope, parseSpace } from "../input/scope.js";
import type { Scope, SpaceRef } from "../types.js";
import type { ImportReport, OnConflict } from "./report.js";

/** As what a line names a space: as the owner of what it tells, as the agent that it names, as a registry entry. */
export type SpaceNaming = "owner" | "agent" | "entry";

export interface ImportOptions {
  /** Where plain messages go. Lines may name sessions of their own. */
  readonly scope?: Scope;
  /** Puts all that one space of the file holds into this one. Registry entries are left out then. */
  readonly into?: SpaceRef;
  /** Which spaces of the file are imported; lines of the others are skipped. All if left out. */
  readonly only?: (space: SpaceRef) => boolean;
  /** Which spaces may be written; a line that names another one ends the import (`forbidden`). All if left out. */
  readonly allow?: (space: SpaceRef, as: SpaceNaming) => boolean;
  /** stop: the first item, block or fact that is there with other content ends the import (the default) · skip: goes on. */
  readonly onConflict?: OnConflict;
  /** Called after each batch. */
  readonly onProgress?: (report: ImportReport) => void;
  readonly signal?: AbortSignal;
}

export interface ParsedImport {
  readonly scope: ParsedScope | undefined;
  readonly into: SpaceRef | undefined;
  readonly only: (space: SpaceRef) => boolean;
  readonly allow: (space: SpaceRef, as: SpaceNaming) => boolean;
  readonly onConflict: OnConflict;
  readonly onProgress: ((report: ImportReport) => void) | undefined;
  readonly signal: AbortSignal | undefined;
}

const KEYS: ReadonlySet<string> = new Set("scope into only allow onConflict onProgress signal".split(" "));
const ON_CONFLICT = ["stop", "skip"] as const;

export function parseImport(options: ImportOptions): ParsedImport {
  objectWith(options, KEYS, "options");
  const { scope, into, only = () => true, allow = () => true, onConflict = "stop", onProgress, signal } = options;
  for (const [key, value] of Object.entries({ only, allow, onProgress })) {
    if (value !== undefined && typeof value !== "function") throw wrongType(`options.${key}`, "a function", value);
  }
  return {
    scope: scope === undefined ? undefined : parseScope(scope, "options.scope"),
    into: into === undefined ? undefined : parseSpace(into, "options.into"),
    ...{ only, allow, onProgress, signal },
    onConflict: parseChoice(onConflict, ON_CONFLICT, "options.onConflict"),
  };
}
