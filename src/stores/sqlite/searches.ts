/**
 * Where a search runs. In small spaces, whose items are at hand on the main thread (small.ts), words are searched here, and
 * of vectors the thread gives numbers alone; large ones are searched by threads. The answers are the same.
 */
import { setImmediate as othersFirst } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import type { FoundItems } from "../estimates.js";
import type { Scores, ScoresRequest, VectorScored, VectorsRequest } from "../indexing.js";
import type { Scored, WordsRequest } from "../store.js";
import { retryBusy } from "./busy.js";
import type { NearestItems } from "./nearest-items.js";
import type { Opened } from "./opened.js";

/** More items than this are scored by the vectors thread. */
const SCORED_MAX = 32;
const AT_HAND_MAX = 1_000;
/** How long after the first question the reader's thread is started, if it has not been needed before. */
const WAKE_MS = 150;

export class Searches {
  readonly #ready: () => Promise<Opened>;
  readonly #busyTimeoutMs: number;
  /** Nothing was searched by words yet. */
  #isFirst = true;
  /** Spaces that were at hand when they were last searched by words; they are likely to be so still. */
  readonly #atHand = new LRUCache<string, true>({ max: AT_HAND_MAX });

  /** `ready`: the connections, when they are not just being opened anew. */
  constructor(ready: () => Promise<Opened>, busyTimeoutMs: number) {
    this.#ready = ready;
    this.#busyTimeoutMs = busyTimeoutMs;
  }

  /** What else a question needs is sent off first: its vector is being made, or its nearest looked for, while this searches. */
  async words(request: WordsRequest): Promise<FoundItems<Scored>> {
    if (!request.keys) await othersFirst();
    const opened = await this.#ready();
    const isFirst = !opened.awakeReader && (this.#isFirst || request.keys !== undefined);
    if (this.#isFirst) opened.wakeReader(WAKE_MS);
    this.#isFirst = false;
    const found = await this.#here(() => opened.peek.searchAtHand(request, isFirst));
    const name = JSON.stringify(request.spaces);
    if (!found) {
      this.#atHand.delete(name);
      return opened.reader.call("searchWords", request);
    }
    this.#atHand.set(name, true);
    return found;
  }

  async vectors(request: VectorsRequest): Promise<FoundItems<VectorScored>> {
    const { peek, vectors } = await this.#ready();
    const { spaces, vectorSpace, vector, limit, filter, estimates, unsent } = request;
    const isNarrow = unsent || Object.keys(filter).length > 0;
    if (estimates && !isNarrow && this.#atHand.has(JSON.stringify(spaces))) {
      const nearest = await vectors.call<NearestItems | undefined>("nearest", { spaces, vectorSpace, vector, limit });
      const found = nearest && (await this.#here(() => peek.refer(request, nearest)));
      if (found) return found;
    }
    return vectors.call("searchVectors", request);
  }

  /** A few on the main thread: to read them takes less time than a hop. What that leaves out, the vectors thread scores. */
  async scores(request: ScoresRequest): Promise<Scores> {
    const { peek, vectors } = await this.#ready();
    if (request.items.length > SCORED_MAX) return vectors.call("scoreVectors", request);
    const { scored, below } = await this.#here(() => peek.scoreVectors(request));
    if (scored.length + below.length === request.items.length) return { scored, below };
    const known = new Set([...scored.map(({ key }) => key), ...below]);
    const items = request.items.filter(({ key }) => !known.has(key));
    const others = await vectors.call<Scores>("scoreVectors", { ...request, items });
    return { scored: [...scored, ...others.scored], below: [...below, ...others.below] };
  }

  #here<T>(read: () => T): Promise<T> {
    return retryBusy(read, this.#busyTimeoutMs);
  }
}
