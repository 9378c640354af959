/**
 * The Embedder contract as tests: one suite that every embedder must pass.
 *
 * Each test gets a new, unused embedder. The suite checks the form of vectors, not their meaning.
 */
import { describe, it } from "vitest";
import type { Embedder } from "../embedding/embedder.js";
import { calls } from "./embedder/calls.js";
import { texts } from "./embedder/texts.js";
import { tokens } from "./embedder/tokens.js";
import { vectors } from "./embedder/vectors.js";

/** A new embedder for one test. */
export interface OpenedEmbedder {
  readonly embedder: Embedder;
  /** Whether the embedder has loaded or requested anything; it must not have before the first call. */
  isUsed(): boolean;
  /** Closes the embedder, if the test has not, and cleans up. */
  close(): Promise<void>;
}

export interface EmbedderConformance {
  readonly name: string;
  /** Creates an unused embedder. */
  readonly open: () => Promise<OpenedEmbedder>;
  /**
   * False if the model's tokens cannot be known and `countTokens` returns upper bounds: then a text that counts more
   * than `tokensMax` may be accepted or refused.
   */
  readonly countsAreExact?: boolean;
  /** False for an embedder that sends every call at once: nothing is queued, so urgent calls overtake nothing. */
  readonly queues?: boolean;
}

/** How the parts of the suite register their tests. */
export type CheckEmbedder = (title: string, body: (opened: OpenedEmbedder) => Promise<void>) => void;

/** Registers the suite with vitest. Call it in a test file. */
export function embedderConformance(suite: EmbedderConformance): void {
  const { name, open, countsAreExact = true, queues = true } = suite;
  const check: CheckEmbedder = (title, body) => {
    it(title, async () => {
      const opened = await open();
      try {
        await body(opened);
      } finally {
        await opened.close();
      }
    });
  };
  describe(`${name} keeps the Embedder contract`, () => {
    describe("vectors", () => vectors(check));
    describe("any text", () => texts(check));
    describe("tokens", () => tokens(check, countsAreExact));
    describe("calls", () => calls(check, queues));
  });
}
