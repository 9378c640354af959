/**
 * The tail: items that were added so recently that no batch has taken them to the embedder yet. A question has the newest
 * of them embedded first, so that what was said a moment ago is found by meaning; their vectors are kept for the
 * transfer. What does not fit the bounds is left out, and the answer says so.
 */
import type { Clock } from "../clock.js";
import type { PendingItem, TailRequest } from "../stores/indexing.js";
import type { Store } from "../stores/store.js";
import type { HybridBuffer } from "./hybrid/hybrid-buffer.js";

const TEXTS_MAX = 16;
const WAIT_MS = 100;
/** Embedded one group beside the other, so that what is done by the deadline counts. */
const GROUP = 4;
/** Pieces are shorter than this only where sentences are: an estimate that is rather too high. */
const CHARACTERS_PER_TEXT = 80;

export interface TailParts {
  readonly store: Store;
  readonly hybrid: HybridBuffer;
  readonly clock: Clock;
}

/** How many items waited to be embedded, of those looked at, and whether some were left. */
export interface EmbeddedTail {
  readonly items: number;
  readonly isLeft: boolean;
}

/** Embeds the tail. The time runs from when `started` has resolved. */
export async function embedTail(
  { store, hybrid, clock }: TailParts,
  request: Omit<TailRequest, "limit">,
  started: Promise<unknown>,
): Promise<EmbeddedTail> {
  const { items, more } = await store.tail({ ...request, limit: TEXTS_MAX });
  const isMissing = (item: PendingItem) => !hybrid.cache.find(item.lane.space, item.key, item.version);
  const missing = items.filter(isMissing);
  if (missing.length === 0) {
    await started;
    return { items: items.length, isLeft: more };
  }
  const abort = new AbortController();
  const underWay = missing.flatMap((item) => hybrid.underWay(item) ?? []);
  const ahead = withinBounds(missing.filter((item) => !hybrid.underWay(item)));
  const work = [...underWay, ...groupsOf(ahead).map((group) => hybrid.embedAhead(group, abort.signal))];
  const done = Promise.allSettled(work); // what fails is left, and the transfer deals with its error
  let cancel = (): void => {};
  try {
    await started;
    const deadline = new Promise<void>((resolve) => {
      cancel = clock.after(WAIT_MS, resolve);
    });
    await Promise.race([done, deadline]);
  } finally {
    cancel();
    abort.abort();
  }
  return { items: items.length, isLeft: more || missing.some(isMissing) };
}

/** The newest, as long as they make no more texts than allowed. */
function withinBounds(items: readonly PendingItem[]): readonly PendingItem[] {
  let texts = 0;
  return items.filter(({ content }) => {
    const expected = Math.ceil(content.length / CHARACTERS_PER_TEXT);
    if (texts + expected > TEXTS_MAX) return false;
    texts += expected;
    return true;
  });
}

function groupsOf(items: readonly PendingItem[]): readonly (readonly PendingItem[])[] {
  const groups: PendingItem[][] = [];
  for (const [at, item] of items.entries()) {
    if (at % GROUP === 0) groups.push([item]);
    else groups.at(-1)?.push(item);
  }
  return groups;
}
