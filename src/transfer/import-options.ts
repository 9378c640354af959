/** Options of an import. */
import { objectWith, parseChoice, wrongType } from "../input/refusal.js";
import { type ParsedScope, parseScope, parseSpace } from "../input/scope.js";
import type { Scope, SpaceRef } from "../types.js";
import type { ImportReport, OnConflict } from "./report.js";

/** The role in which a line names a space: as the owner of an item, as an agent, or as a registry entry. */
export type SpaceNaming = "owner" | "agent" | "entry";

/** The identity of an importer that must not sign as someone else. */
export interface Signer {
  /** Signs block versions that name no actor. If undefined, such versions are refused. */
  readonly own?: string;
  may(actor: string): boolean;
}

/** How to import. */
export interface ImportOptions {
  /** Where plain messages go. Each line may name its own session. */
  readonly scope?: Scope;
  /** Imports the contents of the file's single space into this space. Registry entries are skipped. */
  readonly into?: SpaceRef;
  /** Which spaces of the file to import; lines of the others are skipped. Default: all. */
  readonly only?: (space: SpaceRef) => boolean;
  /** Which spaces may be written; a line that names another one ends the import (`forbidden`). Default: all. */
  readonly allow?: (space: SpaceRef, as: SpaceNaming) => boolean;
  /**
   * The importer's identity. Block versions and promotions by others end the import (`forbidden`). If undefined, the history
   * is restored with its original actors.
   */
  readonly signer?: Signer;
  /** stop: the first item, block or fact that exists with other content ends the import (default) · skip: continues. */
  readonly onConflict?: OnConflict;
  /** Called after each batch. */
  readonly onProgress?: (report: ImportReport) => void;
  /** Stops the import. What it wrote until then stays. */
  readonly signal?: AbortSignal;
}

export interface ParsedImport {
  readonly scope: ParsedScope | undefined;
  readonly into: SpaceRef | undefined;
  readonly only: (space: SpaceRef) => boolean;
  readonly allow: (space: SpaceRef, as: SpaceNaming) => boolean;
  readonly signer: Signer | undefined;
  readonly onConflict: OnConflict;
  readonly onProgress: ((report: ImportReport) => void) | undefined;
  readonly signal: AbortSignal | undefined;
}

const KEYS: ReadonlySet<string> = new Set("scope into only allow signer onConflict onProgress signal".split(" "));
const ON_CONFLICT = ["stop", "skip"] as const;

export function parseImport(options: ImportOptions): ParsedImport {
  objectWith(options, KEYS, "options");
  const {
    scope,
    into,
    only = () => true,
    allow = () => true,
    signer,
    onConflict = "stop",
    onProgress,
    signal,
  } = options;
  for (const [key, value] of Object.entries({ only, allow, onProgress })) {
    if (value !== undefined && typeof value !== "function") throw wrongType(`options.${key}`, "a function", value);
  }
  return {
    scope: scope === undefined ? undefined : parseScope(scope, "options.scope"),
    into: into === undefined ? undefined : parseSpace(into, "options.into"),
    ...{ only, allow, signer, onProgress, signal },
    onConflict: parseChoice(onConflict, ON_CONFLICT, "options.onConflict"),
  };
}
