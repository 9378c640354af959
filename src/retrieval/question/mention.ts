/** A place in a question that names a time, before it is decided which of the places count. */
import type { Calendar, Range } from "./calendar.js";

export interface Mention extends Range {
  /** Where it stands in the text. */
  readonly start: number;
  readonly end: number;
  /** Needs the asking time: "last week", or a day without a year. */
  readonly isRelative: boolean;
  /** Has no year of its own: the same mention in a given year. */
  readonly inYear?: (year: number) => Range;
  /** A whole year: what a mention without a year may belong to. */
  readonly wholeYear?: number;
}

/** A mention without a year: the last such time that has begun when it is asked. */
export function latest(calendar: Calendar, inYear: (year: number) => Range): Range {
  const range = inYear(calendar.year);
  return range.from <= calendar.askedAt ? range : inYear(calendar.year - 1);
}
