/**
 * ChangeWatcher: detects commits of other processes in the watched spaces. It polls for changes every quarter of a second, and
 * only while there are watchers.
 *
 * A change is new if its space version is later than the last poll and was not produced by this process. Writes that
 * change no version (blocks) are not detected. Changes that name no item (vectors) may go unreported if a commit of
 * this process follows before the next poll.
 */

import type { Clock } from "../clock.js";
import { HoldfastError } from "../errors.js";
import { spaceKey } from "../space-key.js";
import type { Changes, SpaceVersion, Store } from "../stores/store.js";
import type { SpaceRef } from "../types.js";
import type { Untold } from "./event.js";
import type { OwnCommits } from "./own-commits.js";

const EVERY_MS = 250;
/** Spaces read in one snapshot. This takes about half a millisecond of the reader's time if nothing has changed. */
const SPACES_AT_ONCE = 100;
/** Upper bound on ids in one event. */
const IDS_MAX = 1_000;

export interface ChangeWatcherOptions {
  readonly store: Pick<Store, "versions" | "changes">;
  readonly clock: Clock;
  readonly own: OwnCommits;
  readonly tell: (event: Untold) => void;
}

interface Watched {
  readonly space: SpaceRef;
  listeners: number;
  /** False before the first poll. */
  isSeen: boolean;
  /** The version at the last poll; undefined if there was no space with this name. */
  version: SpaceVersion | undefined;
}

export class ChangeWatcher {
  readonly #options: ChangeWatcherOptions;
  readonly #watched = new Map<string, Watched>();
  #cancel: (() => void) | undefined;
  #isLooking = false;

  constructor(options: ChangeWatcherOptions) {
    this.#options = options;
  }

  /** Watches these spaces from now on, until the returned function is called. */
  watch(spaces: readonly SpaceRef[]): () => void {
    const fresh: Watched[] = [];
    for (const space of spaces) {
      const watched = this.#watched.get(spaceKey(space)) ?? { space, listeners: 0, ...UNSEEN };
      if (watched.listeners++ === 0) fresh.push(watched);
      this.#watched.set(spaceKey(space), watched);
    }
    this.#options.own.isNoting = true;
    void this.#quietly(() => this.#begin(fresh));
    if (!this.#isLooking) this.#schedule();
    return () => this.#unwatch(spaces.map(spaceKey));
  }

  close(): void {
    this.#unwatch([...this.#watched.keys()], true);
  }

  /**
   * Records that this process removed the space's name, so that its absence is not reported as another process's
   * change.
   */
  gone(space: SpaceRef): void {
    const watched = this.#watched.get(spaceKey(space));
    if (watched) Object.assign(watched, { isSeen: true, version: undefined });
  }

  #unwatch(names: readonly string[], isAll = false): void {
    for (const name of names) {
      const watched = this.#watched.get(name);
      if (watched && (--watched.listeners === 0 || isAll)) this.#watched.delete(name);
    }
    if (this.#watched.size > 0) return;
    this.#cancel?.();
    this.#cancel = undefined;
    this.#options.own.stop();
  }

  #schedule(): void {
    this.#cancel ??= this.#options.clock.after(EVERY_MS, () => void this.#look());
  }

  async #look(): Promise<void> {
    this.#cancel = undefined;
    this.#isLooking = true;
    await this.#quietly(() => this.#compare([...this.#watched.values()]));
    this.#isLooking = false;
    if (this.#watched.size > 0) this.#schedule();
  }

  /** If the store is busy, failing or closed, this poll reports nothing, and the next one catches up. */
  async #quietly(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
    }
  }

  /** Records the current versions, so that existing contents are not reported as changes. */
  async #begin(watched: readonly Watched[]): Promise<void> {
    const fresh = watched.filter(({ isSeen }) => !isSeen);
    if (fresh.length === 0) return;
    const versions = await this.#options.store.versions(fresh.map(({ space }) => space));
    for (const [at, one] of fresh.entries()) {
      if (!one.isSeen) Object.assign(one, { isSeen: true, version: versions[at] });
    }
  }

  async #compare(watched: readonly Watched[]): Promise<void> {
    const { own } = this.#options;
    await this.#begin(watched);
    const before = own.versions; // all of these are older than the next read, so this poll covers them
    for (let at = 0; at < watched.length; at += SPACES_AT_ONCE) {
      await this.#compareSome(watched.slice(at, at + SPACES_AT_ONCE));
    }
    own.forget(before);
  }

  async #compareSome(watched: readonly Watched[]): Promise<void> {
    const { store, own } = this.#options;
    const cursors = watched.map(({ space, version }) => ({ space, since: version }));
    const changes = await store.changes(cursors);
    await own.settled();
    for (const [at, one] of watched.entries()) {
      const change = changes[at];
      if (!change || one.version !== cursors[at]?.since) continue; // this process removed the name meanwhile
      this.#tell(one, change);
      one.version = change.version;
    }
  }

  #tell({ space, version: known }: Watched, { version, changed, removed }: Changes): void {
    const { own, tell } = this.#options;
    if (!version) {
      if (known) tell({ type: "changed", space, ids: [], removed: 0, gone: true });
      return;
    }
    if (known?.id === version.id && known.version === version.version) return;
    const isOwn = (spaceVersion: number): boolean => own.has({ id: version.id, version: spaceVersion });
    const theirs = changed.filter(({ spaceVersion }) => !isOwn(spaceVersion));
    const gone = removed.filter(({ spaceVersion }) => !isOwn(spaceVersion)).reduce((sum, { items }) => sum + items, 0);
    if (theirs.length === 0 && gone === 0 && isOwn(version.version)) return;
    tell({ type: "changed", space, ids: theirs.slice(0, IDS_MAX).map(({ id }) => id), removed: gone });
  }
}

const UNSEEN = { isSeen: false, version: undefined };
