/**
 * Adapts the number of lines per page so that a page stays near a megabyte. A line may hold up to 8 MiB, so the first page is
 * small.
 */
import type { BodyLine } from "./format.js";

const FIRST = 32;
const MOST = 256;
const PAGE_UNITS = 1024 * 1024;
/** A number of a vector as JSON. */
const NUMBER_UNITS = 20;

export class Pace {
  #limit = FIRST;

  get limit(): number {
    return this.#limit;
  }

  /** Adjusts to the size of a page. The limit grows in steps and shrinks at once. */
  learn(lines: readonly BodyLine[]): void {
    if (lines.length === 0) return;
    const units = lines.reduce((sum, line) => sum + unitsOf(line), 0);
    const fitting = Math.floor((PAGE_UNITS * lines.length) / units);
    this.#limit = Math.max(1, Math.min(fitting, this.#limit * 2, MOST));
  }
}

function unitsOf(line: BodyLine): number {
  if (line.type === "point") return 256 + line.vector.length * NUMBER_UNITS + JSON.stringify(line.payload).length;
  if (!("content" in line)) return 256;
  return 256 + (typeof line.content === "string" ? line.content.length : JSON.stringify(line.content).length);
}
