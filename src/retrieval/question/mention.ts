/** A mention of a time in a question, before it is decided which mentions count. */
import type { Calendar, Range } from "./calendar.js";

export interface Mention extends Range {
  /** The position in the text. */
  readonly start: number;
  readonly end: number;
  /** Depends on the time of asking: "last week", or a day without a year. */
  readonly isRelative: boolean;
  /** For a mention without a year: the same mention in a given year. */
  readonly inYear?: (year: number) => Range;
  /** The year, if the mention is a whole year. A mention without a year may belong to it. */
  readonly wholeYear?: number;
}

/** The latest occurrence of a mention without a year that has begun when the question is asked. */
export function latest(calendar: Calendar, inYear: (year: number) => Range): Range {
  const range = inYear(calendar.year);
  return range.from <= calendar.askedAt ? range : inYear(calendar.year - 1);
}
