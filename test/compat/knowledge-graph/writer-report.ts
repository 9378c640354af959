/** The protocol between the writing processes and the test. */

export const SCOPE = { team: "writers" } as const;
/** The entity that all of them add to. */
export const SHARED = "shared";
/** An entity that all of them try to create. */
export const contested = (round: number): string => `contested ${round}`;
export const ownName = (who: number, round: number): string => `own ${who} ${round}`;
export const noteOf = (who: number, round: number, at: number): string => `note ${round}.${at} of writer ${who}`;
/** The number of concurrent calls in each process. */
export const AT_ONCE = 3;

/** The order to write this round: all start each round together. */
export interface WriterOrder {
  readonly round: number;
}

export type WriterReport =
  | { readonly say: "ready" }
  /** The names of the entities that it was told it had created, and the observations that it had added. */
  | { readonly say: "written"; readonly created: readonly string[]; readonly added: readonly string[] };
