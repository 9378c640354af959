/** The vector space that is being filled, while another one is served. Vectors follow the text they were made of. */
import type { VectorSpace } from "../../types.js";
import type { EmbeddedItem } from "../indexing.js";
import type { Attempt } from "./attempt.js";
import type { Embedding } from "./marks.js";

/** Why the new model does not take an item. */
export interface Refusal {
  readonly error: string;
  readonly retryAt?: number;
}

export class Next {
  readonly vectorSpace: VectorSpace;
  /** By the keys of the items. */
  readonly embeddings = new Map<number, Embedding>();
  readonly refused = new Map<number, Refusal>();

  constructor(vectorSpace: VectorSpace) {
    this.vectorSpace = vectorSpace;
  }

  put({ key, spans, vectors, borrowed }: EmbeddedItem, attempt: Attempt): void {
    const embedding = {
      spans: spans.map(({ start, end }) => ({ start, end })),
      vectors: vectors.slice(),
      borrowed: borrowed.map((lender) => lender.key).filter((lender) => lender !== key),
    };
    attempt.set(this.embeddings, key, embedding);
    attempt.delete(this.refused, key);
  }

  refuse(key: number, refusal: Refusal, attempt: Attempt): void {
    attempt.set(this.refused, key, refusal);
  }

  /** Drops all that was made of this item's text: its own vectors, and those of whoever borrowed from it. */
  drop(key: number, attempt: Attempt): void {
    for (const [borrower, { borrowed }] of [...this.embeddings]) {
      if (borrowed.includes(key)) attempt.delete(this.embeddings, borrower);
    }
    attempt.delete(this.embeddings, key);
    attempt.delete(this.refused, key);
  }
}
