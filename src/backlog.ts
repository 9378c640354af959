/** Backlog: items that could not be embedded and were parked. Word search still finds them. */
import { parseIds } from "./input/call.js";
import { type PageOptions, parsePage } from "./input/page.js";
import { parseScope } from "./input/scope.js";
import type { ParkedItem, ReplayWrite } from "./stores/indexing.js";
import type { DoneOf, Store } from "./stores/store.js";
import type { Page, Scope } from "./types.js";

export interface BacklogParts {
  readonly store: Pick<Store, "parked">;
  /** Wall-clock time. Throws if the memory is closed. */
  readonly now: () => number;
  readonly replay: (which: ReplayWrite["which"]) => Promise<DoneOf<ReplayWrite>>;
  /** Called when items were made pending again. */
  readonly replayed: () => void;
}

export class Backlog {
  readonly #parts: BacklogParts;

  constructor(parts: BacklogParts) {
    this.#parts = parts;
  }

  /** Items of the scope's space that could not be embedded, with the reason. */
  async parked(scope: Scope, options: PageOptions = {}): Promise<Page<ParkedItem>> {
    const { space } = parseScope(scope);
    return this.#parts.store.parked({ spaces: [space], ...parsePage(options), now: this.#parts.now() });
  }

  /** Retries parked items of the scope's space: the given ids, or all. Returns the number of items retried. */
  async replay(scope: Scope, ids?: readonly string[]): Promise<number> {
    const { space } = parseScope(scope);
    const which = { space, ...(ids !== undefined && { ids: parseIds(ids) }) };
    this.#parts.now();
    let replayed = 0;
    for (let remaining = true; remaining; ) {
      const done = await this.#parts.replay(which);
      replayed += done.replayed;
      remaining = done.remaining;
    }
    this.#parts.replayed();
    return replayed;
  }
}
