/** The progress of an import. Every line of the body is counted once: written, repeated, in conflict or skipped. */
import { HoldfastError } from "../errors.js";

/** What an import has read and written so far. */
export interface ImportReport {
  /** Lines read, of any type. */
  readonly lines: number;
  /** Written by this import. */
  readonly entries: number;
  /** Sessions written. */
  readonly sessions: number;
  /** Items written. */
  readonly items: number;
  /** Versions of blocks. */
  readonly blocks: number;
  /** Facts written. */
  readonly facts: number;
  /** Spans of facts that were marked as superseded. */
  readonly superseded: number;
  /** Vectors of callers' own. */
  readonly points: number;
  /** Entries of the promotion log. */
  readonly promotions: number;
  /** Lines that match existing data. */
  readonly repeated: number;
  /** Lines whose id exists with other content (`onConflict: "skip"`). */
  readonly conflicts: number;
  /** Lines skipped: of other spaces, expired, or facts whose sources are missing. */
  readonly skipped: number;
}

export type Written = "entries" | "sessions" | "items" | "blocks" | "facts" | "superseded" | "points" | "promotions";
export type Outcome = Written | "repeated" | "skipped";
/** stop: a conflict ends the import · skip: it is counted, and the import continues. */
export type OnConflict = "stop" | "skip";

/** A line of the file with its number, from 1. */
export interface Numbered<T> {
  readonly number: number;
  readonly line: T;
}

export class Tally {
  readonly #onConflict: OnConflict;
  readonly #counts = {
    ...{ lines: 0, entries: 0, sessions: 0, items: 0, blocks: 0, facts: 0, superseded: 0, points: 0, promotions: 0 },
    ...{ repeated: 0, conflicts: 0, skipped: 0 },
  };

  constructor(onConflict: OnConflict) {
    this.#onConflict = onConflict;
  }

  get stopsAtConflict(): boolean {
    return this.#onConflict === "stop";
  }

  get report(): ImportReport {
    return { ...this.#counts };
  }

  readLine(): number {
    return ++this.#counts.lines;
  }

  count(outcome: Outcome): void {
    this.#counts[outcome]++;
  }

  /** Counts a line whose id exists with other content, or ends the import. */
  conflict(number: number, id: string, what: string): void {
    this.#counts.conflicts++;
    if (this.#onConflict === "skip") return;
    throw new HoldfastError("conflict", `line ${number}: ${what} with this id already exists with other content`, {
      hint: 'the lines before it were imported; change one of the two, or import with onConflict "skip"',
      details: { line: number, id },
    });
  }

  /** The error with the line number and the report added. */
  atLine(error: unknown, number: number): unknown {
    if (!(error instanceof HoldfastError)) return error;
    const { code, message, hint, details } = error;
    const line = typeof details["line"] === "number" ? details["line"] : number;
    const bare = message.replace(/^(?:messages|items)\[0\]\.?/, ""); // each line is parsed as a list of one
    return new HoldfastError(code, details["line"] === line ? message : `line ${line}: ${bare}`, {
      ...(hint !== undefined && { hint }),
      cause: error,
      details: { ...details, line, report: this.report },
    });
  }
}
