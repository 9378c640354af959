/**
 * BlockWatch: detects that blocks were created, edited, renamed or forgotten, by this process, another process on the file,
 * or through a server. It polls once a second, less often while polls fail, and only while someone is listening.
 *
 * Invariants: changes before the first poll are not reported; later changes are reported once, by the next poll. At most one
 * poll is in progress and one queued, however often `look` is called.
 */
import { backOff } from "../back-off.js";
import type { Clock } from "../clock.js";
import type { Block } from "../stores/blocks.js";
import { hasUri, uriOfBlock } from "./resources.js";

const EVERY_MS = 1_000;
/** The longest interval while polls fail. */
const FAILING_EVERY_MS_MAX = 30_000;

export interface BlockChanges {
  /** True if blocks or names were added or removed. */
  readonly list: boolean;
  /** Addresses of blocks whose text changed, or that are gone. */
  readonly uris: readonly string[];
}

export interface BlockWatchParts {
  readonly blocks: () => Promise<readonly Block[]>;
  readonly clock: Pick<Clock, "after">;
  readonly changed: (changes: BlockChanges) => void;
  /** Called when a poll fails, once until a poll succeeds again. Polling continues. */
  readonly failed: (error: unknown) => void;
}

interface Known {
  readonly uri: string;
  readonly version: number;
}
/** By id and name: a rename removes one address and adds another. */
type Seen = ReadonlyMap<string, Known>;

/** The state between `start` and `stop`. */
interface Watch {
  readonly first: Promise<void>;
  seen: Seen | undefined;
  /** Consecutive failures. */
  failures: number;
}

export class BlockWatch {
  readonly #parts: BlockWatchParts;
  /** Undefined: no one is listening. */
  #watch: Watch | undefined;
  /** The latest poll, in progress or queued. */
  #latest: Promise<void> = Promise.resolve();
  /** The poll that has not begun. */
  #queued: Promise<void> | undefined;
  #cancel: (() => void) | undefined;

  constructor(parts: BlockWatchParts) {
    this.#parts = parts;
  }

  /** Resolves after the first poll; later changes are reported. */
  start(): Promise<void> {
    this.#watch ??= { first: this.#enqueue(), seen: undefined, failures: 0 };
    return this.#watch.first;
  }

  stop(): void {
    this.#watch = undefined;
    this.#cancel?.();
  }

  /** Polls now, or again after the poll in progress. Does nothing while no one is listening. */
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
    const wait = failures === 0 ? EVERY_MS : backOff(failures - 1, EVERY_MS, FAILING_EVERY_MS_MAX);
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
