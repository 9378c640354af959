/** The messages between the parent, which is the backend, and a process with a context engine. */

export type EngineOrder =
  /** Random calls until the process is killed. Turns are numbered from `from`; items come from a pool. */
  | { readonly do: "work"; readonly from: number; readonly seed: number; readonly pool: number }
  /** The backend's answer to a delivery. */
  | { readonly do: "confirm" }
  | { readonly do: "finish" };

/** One turn, as it arrives. */
export interface Arrival {
  readonly id: string;
  readonly number: number;
  readonly text: string;
}

export type EngineReport =
  /** The turns in the buffer. */
  | { readonly say: "open"; readonly numbers: readonly number[] }
  | { readonly say: "adding" | "added"; readonly number: number }
  /** The backend has these; the engine does not know it yet. */
  | { readonly say: "ingested"; readonly episodes: readonly Arrival[] }
  /** A compaction or a disposal has returned. */
  | { readonly say: "delivered" }
  /** The items in an answer of `assemble`. */
  | { readonly say: "injected"; readonly items: readonly number[] }
  | { readonly say: "finished" };

const TURN_WORDS_MAX = 60;

/** The text of a turn, from a line to many pages of the file. */
export const textOf = (number: number): string =>
  `${number} wörds `.repeat(1 + (number % TURN_WORDS_MAX) * (number % 11 === 0 ? 100 : 1));
