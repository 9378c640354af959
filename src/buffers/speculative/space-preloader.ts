/**
 * SpacePreloader: reads the vectors and words of a space into memory when this process begins to use it, so that its first question
 * is not slow.
 */
import { LRUCache } from "lru-cache";
import type { ParsedQuery } from "../../input/query.js";
import type { ParsedScope } from "../../input/scope.js";
import { spaceKey } from "../../space-key.js";
import type { Store } from "../../stores/store.js";
import type { Prefetches } from "./prefetches.js";
import type { TrackRecord } from "./track-record.js";

const SPACES_MAX = 1_000;
/** A space with fewer commits is so small that reading it into memory ahead gains nothing. */
const LARGE_VERSION = 50;
/** Spaces that wait for their first question. */
const UNASKED_MAX = 16;

export interface SpacePreloaderOptions {
  readonly store: Pick<Store, "versions">;
  readonly record: TrackRecord;
  readonly prefetches: Pick<Prefetches, "add" | "asked" | "cancel">;
  readonly parse: (place: ParsedScope, text: string) => ParsedQuery | undefined;
  /** Runs what was added. */
  readonly run: () => void;
}

export class SpacePreloader {
  readonly #options: SpacePreloaderOptions;
  /** The spaces in use. `warming` is the request that reads a space into memory; it is removed at the first question. */
  readonly #opened = new LRUCache<string, { readonly warming?: string }>({ max: SPACES_MAX });

  constructor(options: SpacePreloaderOptions) {
    this.#options = options;
  }

  /** A space comes into use, or still is. `text` is its likely first question. */
  open(place: ParsedScope, text: string | undefined): void {
    const space = spaceKey(place.space);
    if (this.#opened.has(space)) return;
    const opened = {};
    this.#opened.set(space, opened);
    this.#options.store.versions([place.space]).then(
      ([known]) => {
        if (this.#opened.get(space) !== opened) return; // asked or forgotten meanwhile
        if (known && known.version >= LARGE_VERSION) this.#warm(place, text ?? space);
      },
      () => undefined, // the question will report it
    );
  }

  /** The space is asked. */
  asked({ space }: ParsedScope): void {
    const name = spaceKey(space);
    const { warming } = this.#opened.get(name) ?? {};
    this.#opened.set(name, {});
    const { prefetches, record } = this.#options;
    if (warming !== undefined && !prefetches.asked(warming)) record.scored(true);
  }

  /** Drops what a space, or any, would be warmed with. */
  forget(space?: string): void {
    for (const name of space === undefined ? [...this.#opened.keys()] : [space])
      if (this.#opened.has(name)) this.#opened.set(name, {});
  }

  #warm(place: ParsedScope, text: string): void {
    const { prefetches, record, parse, run } = this.#options;
    const space = spaceKey(place.space);
    const query = parse(place, text);
    if (!query) return;
    const warming = `opening ${space}`;
    this.#opened.set(space, { warming });
    if (record.admits()) {
      prefetches.add({ id: warming, predictor: "opening", place, query, isWarming: true });
      run();
    }
    const unasked = [...this.#opened.entries()].filter(([, { warming }]) => warming !== undefined);
    for (const [other, { warming: id = "" }] of unasked.slice(UNASKED_MAX)) {
      this.#opened.set(other, {});
      if (!prefetches.cancel(id)) record.scored(false);
    }
  }
}
