/**
 * Others: notices what other processes commit in the spaces that somebody listens to, by a look at their versions every
 * quarter of a second, and only while somebody does.
 *
 * A space's version is the number of the last commit that changed it, so what is new is what commits after the version of
 * the last look did, up to the version of this one, without this process's own. What changes no version (a block) is not
 * noticed; what names no item (vectors) may go untold if an own commit follows before the next look.
 */
import { spaceName } from "../buffers/lane-name.js";
import type { Clock } from "../clock.js";
import { HoldfastError } from "../errors.js";
import type { Store } from "../stores/store.js";
import type { SpaceRef } from "../types.js";
import type { Untold } from "./event.js";
import type { OwnCommits } from "./own-commits.js";

const EVERY_MS = 250;
/** Versions are read on the main thread: about half a millisecond at a time. */
const SPACES_AT_ONCE = 100;
/** Ids told of one change. */
const IDS_MAX = 1_000;

export interface OthersOptions {
  readonly store: Pick<Store, "versions" | "changes">;
  readonly clock: Clock;
  readonly own: OwnCommits;
  readonly tell: (event: Untold) => void;
}

interface Watched {
  readonly space: SpaceRef;
  listeners: number;
  /** As last seen; undefined before the first look. */
  version: number | undefined;
}

export class Others {
  readonly #options: OthersOptions;
  readonly #watched = new Map<string, Watched>();
  #cancel: (() => void) | undefined;
  #isLooking = false;
  /** The newest commit when the last look began. */
  #lookedUpTo: number | undefined;

  constructor(options: OthersOptions) {
    this.#options = options;
  }

  /** Watches these spaces from now on, until the returned function is called. */
  watch(spaces: readonly SpaceRef[]): () => void {
    const fresh: Watched[] = [];
    for (const space of spaces) {
      const watched = this.#watched.get(spaceName(space)) ?? { space, listeners: 0, version: undefined };
      if (watched.listeners++ === 0) fresh.push(watched);
      this.#watched.set(spaceName(space), watched);
    }
    this.#options.own.isNoting = true;
    void this.#quietly(() => this.#begin(fresh));
    if (!this.#isLooking) this.#schedule();
    return () => this.#unwatch(spaces.map(spaceName));
  }

  close(): void {
    this.#unwatch([...this.#watched.keys()], true);
  }

  /** This process has taken the space's name away: that it is gone is no news from others. */
  gone(space: SpaceRef): void {
    const watched = this.#watched.get(spaceName(space));
    if (watched) watched.version = 0;
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

  /** A store that is busy, failing or closed has nothing to tell now; the next look finds what this one missed. */
  async #quietly(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
    }
  }

  /** What is there already is no news. */
  async #begin(fresh: readonly Watched[]): Promise<void> {
    const versions = await this.#options.store.versions(fresh.map(({ space }) => space));
    for (const [at, one] of fresh.entries()) one.version ??= versions[at] ?? 0;
  }

  async #compare(watched: readonly Watched[]): Promise<void> {
    const { store, own } = this.#options;
    const { commit } = await store.changes([], Number.MAX_SAFE_INTEGER);
    if (commit === this.#lookedUpTo && watched.every(({ version }) => version !== undefined)) return;
    const before = own.numbers; // all of these are older than what is read next, so that this look is done with them
    for (let at = 0; at < watched.length; at += SPACES_AT_ONCE) {
      await this.#compareSome(watched.slice(at, at + SPACES_AT_ONCE));
    }
    own.forget(before);
    this.#lookedUpTo = commit;
  }

  async #compareSome(watched: readonly Watched[]): Promise<void> {
    const { store, own } = this.#options;
    const known = watched.map(({ version }) => version);
    const versions = await store.versions(watched.map(({ space }) => space));
    await own.settled();
    for (const [at, one] of watched.entries()) {
      const [from, to] = [known[at], versions[at] ?? 0];
      if (one.version !== from) continue; // its name was taken away meanwhile, by this process
      if (from !== undefined && from !== to) await this.#tell(one.space, from, to);
      if (one.version === from) one.version = to;
    }
  }

  async #tell(space: SpaceRef, from: number, to: number): Promise<void> {
    const { store, own, tell } = this.#options;
    const without = own.numbers;
    const { changed, removed } = await store.changes([space], from, { upTo: to, without });
    if (changed.length === 0 && removed === 0 && without.includes(to)) return;
    const ids = changed.slice(0, IDS_MAX).map(({ id }) => id);
    tell({ type: "changed", space, ids, removed, commit: to });
  }
}
