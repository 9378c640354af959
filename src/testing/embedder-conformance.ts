/**
 * The Embedder contract as tests: one suite that every embedder runs, so that an embedder is what passes it.
 *
 * Each test gets an embedder of its own, unused. Nothing is asked of what the vectors mean: only of their form, and
 * that a text has one.
 */
import { describe, it } from "vitest";
import type { Embedder } from "../embedding/embedder.js";
import { calls } from "./embedder/calls.js";
import { texts } from "./embedder/texts.js";
import { tokens } from "./embedder/tokens.js";
import { vectors } from "./embedder/vectors.js";

/** A fresh embedder for one test. */
export interface OpenedEmbedder {
  readonly embedder: Embedder;
  /** Whether the embedder has loaded or asked anything; it must not have before the first call. */
  isUsed(): boolean;
  /** Closes the embedder, if the test has not, and cleans up. */
  close(): Promise<void>;
}

export interface EmbedderConformance {
  readonly name: string;
  /** Makes an embedder that nobody has used. */
  readonly open: () => Promise<OpenedEmbedder>;
  /**
   * False where the model's tokens cannot be known, and `countTokens` gives upper bounds: then a text that counts more
   * than `tokensMax` may be taken or refused.
   */
  readonly countsAreExact?: boolean;
  /** False for an embedder that sends off every call at once: nothing is queued, and urgent calls overtake nobody. */
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
