/**
 * BlockWatch: notices that blocks were made, edited, renamed or forgotten, by whomever: this process, another one on the
 * file, or behind a server. It looks once a second, less often while looks fail, and only while somebody wants to know.
 *
 * Invariants: what changed before the first look is not told; what changes after it is told once, by the next look. At
 * most one look is under way and one waits for it, however often it is told to look.
 */
import type { Clock } from "../clock.js";
import type { Block } from "../stores/blocks.js";
import { hasUri, uriOfBlock } from "./resources.js";

const EVERY_MS = 1_000;
/** While looks fail, the time between them doubles up to this. */
const FAILING_EVERY_MS_MAX = 30_000;

export interface BlockChanges {
  /** True: other blocks than before, or other names. */
  readonly list: boolean;
  /** Addresses whose text is another one, or gone. */
  readonly uris: readonly string[];
}

export interface BlockWatchParts {
  readonly blocks: () => Promise<readonly Block[]>;
  readonly clock: Pick<Clock, "after">;
  readonly changed: (changes: BlockChanges) => void;
  /** A look failed. Told once, until one has succeeded again; looks are taken all the same. */
  readonly failed: (error: unknown) => void;
}

interface Known {
  readonly uri: string;
  readonly version: number;
}
/** By id and name: a renamed block is gone under one address and new under another. */
type Seen = ReadonlyMap<string, Known>;

/** From a start to the stop. */
interface Watch {
  readonly first: Promise<void>;
  seen: Seen | undefined;
  /** In a row, until now. */
  failures: number;
}

export class BlockWatch {
  readonly #parts: BlockWatchParts;
  /** Undefined: nobody wants to know. */
  #watch: Watch | undefined;
  /** The latest look that was begun or waits. */
  #latest: Promise<void> = Promise.resolve();
  /** The look that has not begun. */
  #queued: Promise<void> | undefined;
  #cancel: (() => void) | undefined;

  constructor(parts: BlockWatchParts) {
    this.#parts = parts;
  }

  /** Resolves when the first look has been taken: what changes from then on is told. */
  start(): Promise<void> {
    this.#watch ??= { first: this.#enqueue(), seen: undefined, failures: 0 };
    return this.#watch.first;
  }

  stop(): void {
    this.#watch = undefined;
    this.#cancel?.();
  }

  /** Looks now, or again after the look that is under way. Does nothing while nobody wants to know. */
  look(): Promise<void> {
    return this.#watch ? this.#enqueue() : Promise.resolve();
  }

  #enqueue(): Promise<void> {
    this.#queued ??= this.#latest.then(() => {
      this.#queued = undefined;
      return this.#look();
    });
    this.#latest = this.#queued;
    return this.#queued;
  }

  async #look(): Promise<void> {
    const watch = this.#watch;
    if (!watch) return;
    this.#cancel?.();
    try {
      const blocks = await this.#parts.blocks();
      if (watch === this.#watch) this.#compare(watch, blocks);
    } catch (error) {
      if (watch === this.#watch && watch.failures++ === 0) this.#parts.failed(error);
    }
    if (watch === this.#watch) this.#again(watch);
  }

  #again({ failures }: Watch): void {
    const wait = Math.min(EVERY_MS * 2 ** Math.max(0, failures - 1), FAILING_EVERY_MS_MAX);
    this.#cancel?.();
    this.#cancel = this.#parts.clock.after(wait, () => void this.#enqueue());
  }

  #compare(watch: Watch, blocks: readonly Block[]): void {
    const before = watch.seen;
    const now = new Map(
      blocks
        .filter(hasUri)
        .map(({ id, name, version }) => [JSON.stringify([id, name]), { uri: uriOfBlock(name), version }]),
    );
    watch.seen = now;
    watch.failures = 0;
    if (before) this.#tell(before, now);
  }

  #tell(before: Seen, now: Seen): void {
    const gone = [...before].filter(([key]) => !now.has(key));
    const made = [...now].filter(([key]) => !before.has(key));
    const edited = [...now].filter(([key, { version }]) => before.has(key) && before.get(key)?.version !== version);
    const uris = new Set([...gone, ...made, ...edited].map(([, { uri }]) => uri));
    if (uris.size > 0) this.#parts.changed({ list: gone.length + made.length > 0, uris: [...uris] });
  }
}
