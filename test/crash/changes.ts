/** What has changed since the words of the file were last searched, so that the next search looks there. */
import type { Random } from "../support/random.js";
import { type Text, wordOf } from "./operation.js";
import type { Gone, Order, Sought } from "./protocol.js";

export interface Said {
  readonly lane: number;
  readonly id: string;
  readonly text: Text;
}

export class Changes {
  #present = new Map<string, Sought>();
  #goneWords: Sought[] = [];
  #goneIds: Gone[] = [];

  said({ lane, id, text }: Said): void {
    this.#present.set(id, { lane, word: wordOf(text), id });
  }

  /** The text was replaced. */
  unsaid({ lane, text }: Said): void {
    this.#goneWords.push({ lane, word: wordOf(text) });
  }

  removed(item: Said): void {
    this.#present.delete(item.id);
    this.unsaid(item);
    this.#goneIds.push({ lane: item.lane, id: item.id });
  }

  /** What to look for: the changes, a random part of them if they are more than `max`. */
  search(random: Random, max: number): Order & { order: "search" } {
    const words = [...some([...this.#present.values()], max, random), ...some(this.#goneWords, max, random)];
    return { order: "search", words, gone: this.#goneIds };
  }

  clear(): void {
    this.#present = new Map();
    this.#goneWords = [];
    this.#goneIds = [];
  }
}

/** At most `max` of the list, by chance, none twice. */
function some<T>(list: readonly T[], max: number, random: Random): readonly T[] {
  if (list.length <= max) return list;
  const left = [...list];
  return Array.from({ length: max }, () => left.splice(random.between(0, left.length - 1), 1)[0] as T);
}
