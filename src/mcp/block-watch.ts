/**
 * BlockWatch: notices that blocks were made, edited, renamed or forgotten, by whomever: this process, another one on the
 * file, or behind a server. It looks once a second, and only while somebody wants to know.
 *
 * Invariant: what changed before the first look is not told; what changes after it is told once, by the next look.
 */
import type { Clock } from "../clock.js";
import type { Block } from "../stores/blocks.js";
import { hasUri, uriOfBlock } from "./resources.js";

const EVERY_MS = 1_000;

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
  /** A look that failed. The next one is taken all the same. */
  readonly failed: (error: unknown) => void;
}

interface Known {
  readonly uri: string;
  readonly version: number;
}
/** By id and name: a renamed block is gone under one address and new under another. */
type Seen = ReadonlyMap<string, Known>;

export class BlockWatch {
  readonly #parts: BlockWatchParts;
  #seen: Seen | undefined;
  #looking: Promise<void> | undefined;
  #cancel: (() => void) | undefined;
  #isOn = false;

  constructor(parts: BlockWatchParts) {
    this.#parts = parts;
  }

  /** Resolves when the first look has been taken: what changes from then on is told. */
  start(): Promise<void> {
    if (this.#isOn) return this.#looking ?? Promise.resolve();
    this.#isOn = true;
    return this.look();
  }

  stop(): void {
    this.#isOn = false;
    this.#seen = undefined;
    this.#cancel?.();
  }

  /** Looks now, or again after the look that is under way. Does nothing while nobody wants to know. */
  look(): Promise<void> {
    if (!this.#isOn) return Promise.resolve();
    this.#cancel?.();
    this.#looking = (this.#looking ?? Promise.resolve()).then(() => this.#compare()).finally(() => this.#again());
    return this.#looking;
  }

  #again(): void {
    this.#cancel?.();
    if (this.#isOn) this.#cancel = this.#parts.clock.after(EVERY_MS, () => void this.look());
  }

  async #compare(): Promise<void> {
    try {
      const blocks = await this.#parts.blocks();
      if (!this.#isOn) return;
      const before = this.#seen;
      const now = new Map(
        blocks
          .filter(hasUri)
          .map(({ id, name, version }) => [JSON.stringify([id, name]), { uri: uriOfBlock(name), version }]),
      );
      this.#seen = now;
      if (before) this.#tell(before, now);
    } catch (error) {
      this.#parts.failed(error);
    }
  }

  #tell(before: Seen, now: Seen): void {
    const gone = [...before].filter(([key]) => !now.has(key));
    const made = [...now].filter(([key]) => !before.has(key));
    const edited = [...now].filter(([key, { version }]) => before.has(key) && before.get(key)?.version !== version);
    const uris = new Set([...gone, ...made, ...edited].map(([, { uri }]) => uri));
    if (uris.size > 0) this.#parts.changed({ list: gone.length + made.length > 0, uris: [...uris] });
  }
}
