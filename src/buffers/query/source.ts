/** What sources report of themselves, for `explain`. */
import type { Source, SourceReport } from "../../types.js";

/** Measures what it took to ask a source. */
export class Stopwatch {
  readonly #started = performance.now();

  report(source: Source, found: number): SourceReport {
    return { source, asked: true, found, ms: performance.now() - this.#started };
  }
}

export const notAsked = (source: Source, why: string): SourceReport => ({ source, asked: false, why, found: 0, ms: 0 });
