/**
 * The reads behind a context, in parallel and under one deadline. A read that fails or is late leaves its part out of
 * the context, and the context reports it. Invalid input and a closed memory are errors.
 */
import { type Clock, Deadline } from "../clock.js";
import { type ErrorCode, HoldfastError } from "../errors.js";
import type { ParsedContext } from "../input/context.js";
import { RESULTS_MAX } from "../input/limits.js";
import type { QueryOptions } from "../input/query.js";
import type { ParsedScope } from "../input/scope.js";
import type { Block } from "../stores/blocks.js";
import type { Fact } from "../stores/facts.js";
import type { Store } from "../stores/store.js";
import type { Hit, Hits, Item, SpaceRef } from "../types.js";
import { sameSpace } from "./reference.js";
import { readWindow, type Window } from "./window.js";

export interface FactSearch {
  readonly asOf?: number;
  readonly limit: number;
  readonly spaces: readonly SpaceRef[];
}

export interface ContextSources {
  readonly store: Pick<Store, "blocks" | "facts" | "ledger" | "list" | "get">;
  readonly query: (place: ParsedScope, text: string, options: QueryOptions) => Promise<Hits>;
  /** Facts that hold, or held at `asOf`, best first. */
  readonly facts: (place: ParsedScope, text: string, search: FactSearch) => Promise<readonly Fact[]>;
  readonly clock: Clock;
}

export interface Found {
  readonly blocks: readonly Block[];
  readonly pinned: readonly Fact[];
  readonly facts: readonly Fact[];
  /** Newest first. */
  readonly turns: readonly Item[];
  readonly hits: readonly Hit[];
  /** Absent if there is no ledger, or it could not be read. */
  readonly window?: Window;
  readonly partial: boolean;
  /** What went wrong, as text. */
  readonly troubles: readonly string[];
}

/** The part of the deadline that a search gets. A late search returns what it has, so its deadline is before ours. */
const SEARCH_TIME = 0.8;
/** Errors that are passed on to the caller. */
const CALLER_ERRORS: ReadonlySet<ErrorCode> = new Set(["invalid_input", "too_large", "config", "closed"]);

export async function findParts(sources: ContextSources, place: ParsedScope, asked: ParsedContext): Promise<Found> {
  const { store, clock } = sources;
  const { spaces, shares, query, topK } = asked;
  const { space: own, session } = place;
  const now = clock.now();
  const troubles: string[] = [];
  const deadline = new Deadline(clock, asked.deadlineMs);
  const attempt = async <T>(what: string, isWanted: boolean, read: () => Promise<T>): Promise<T | undefined> => {
    if (!isWanted) return undefined;
    try {
      const found = await deadline.within(read());
      if (found === undefined) troubles.push(`${what}: not read in time`);
      return found;
    } catch (error) {
      if (error instanceof HoldfastError && CALLER_ERRORS.has(error.code)) throw error;
      troubles.push(`${what}: ${error instanceof HoldfastError ? error.code : "failed"}`);
      return undefined;
    }
  };
  const text = query ?? "";
  const hasOwn = spaces.some((space) => sameSpace(space, own));
  try {
    const [blocks, pinned, facts, turns, hits, window] = await Promise.all([
      attempt("blocks", shares.blocks > 0, () => store.blocks({ spaces })),
      attempt("pinned facts", shares.facts > 0, () => store.facts({ spaces, pinned: true, limit: RESULTS_MAX, now })),
      attempt("facts", query !== undefined && shares.facts > 0, () =>
        sources.facts(place, text, { ...(asked.asOf !== undefined && { asOf: asked.asOf }), limit: topK, spaces }),
      ),
      attempt("turns", session !== undefined && hasOwn && asked.turns > 0 && shares.turns > 0, () =>
        store.list({
          spaces: [own],
          filter: { sessions: [session ?? ""], kinds: ["message"] },
          sortBy: "arrival",
          order: "desc",
          limit: asked.turns,
          now,
        }),
      ),
      attempt("recall", query !== undefined && shares.recall > 0, () => sources.query(place, text, recall(asked))),
      attempt("ledger", session !== undefined && !asked.fresh, async () =>
        readWindow((await store.ledger(own, session ?? "")).entries, { store, spaces, own, now }),
      ),
    ]);
    const isPartial = troubles.length > 0 || hits?.partial === true;
    if (hits?.degraded !== undefined) troubles.push(`recall: ${hits.degraded}`);
    return {
      blocks: blocks ?? [],
      pinned: pinned?.items ?? [],
      facts: facts ?? [],
      turns: turns?.items ?? [],
      hits: hits ?? [],
      ...(window && { window }),
      partial: isPartial,
      troubles,
    };
  } finally {
    deadline.clear();
  }
}

const recall = ({ topK, spaces, askedAt, deadlineMs }: ParsedContext): QueryOptions => ({
  topK,
  spaces,
  kind: ["message", "knowledge", "overflow"],
  sortBy: "score",
  order: "desc",
  deadlineMs: Math.floor(deadlineMs * SEARCH_TIME),
  ...(askedAt !== undefined && { askedAt }),
});
