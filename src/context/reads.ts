/**
 * The reads behind a context, side by side and under one deadline. A read that fails, or is late, costs the context what
 * it would have brought, never the agent its turn; what went wrong is told. Wrong input and a closed memory are errors.
 */
import { Deadline } from "../buffers/query/deadline.js";
import type { Clock } from "../clock.js";
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
  /** Facts that hold, or held then, best first. */
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
  /** Absent: not kept, or it could not be read. */
  readonly window?: Window;
  readonly partial: boolean;
  /** What went wrong, in words. */
  readonly troubles: readonly string[];
}

/** A search that is late answers with what it has; it is asked to do so while there is time to hear it. */
const SEARCH_TIME = 0.8;
/** These are the caller's to know. */
const OWN_FAULTS: ReadonlySet<ErrorCode> = new Set(["invalid_input", "too_large", "config", "closed"]);

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
      if (error instanceof HoldfastError && OWN_FAULTS.has(error.code)) throw error;
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
