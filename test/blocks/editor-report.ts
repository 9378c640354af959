/** The protocol between the editing processes and the test. */

export const SCOPE = { team: "editors", session: "s" } as const;
/** The block that all of them edit. */
export const SHARED = "shared";

export const counted = (who: number, count: number): string => `[editor ${who} has counted to ${count}]`;
export const lineOf = (who: number, round: number): string => `line ${round} of editor ${who}`;

export type EditorOrder = { readonly rounds: number } | { readonly expectVersion: number };
export type EditorReport =
  | { readonly say: "ready" }
  | { readonly say: "edited"; readonly versions: readonly number[] }
  /** The version it made, or the current one that it was told. */
  | { readonly say: "raced"; readonly isWon: boolean; readonly version: number };
