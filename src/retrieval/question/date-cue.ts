/**
 * Whether a question may name a time. Most name none, and need not load the parsers of dates (dates.ts).
 */
import type { Range } from "./calendar.js";
import { type Language, languageOf } from "./language.js";

export interface QuestionDates {
  /** Half-open, in UTC milliseconds, sorted, none inside another. */
  readonly ranges: readonly Range[];
  /** The ranges depend on the time of asking. True also for "on 7 May", which has no year. */
  readonly isRelative: boolean;
}

export interface DateCue {
  /** The beginning of the text, normalised. */
  readonly read: string;
  readonly language: Language;
}

export const NO_DATES: QuestionDates = { ranges: [], isRelative: false };

/** Questions name times in their first sentences, and reading dates costs up to 5 ms per 1,000 hostile characters. */
const READ_CHARACTERS = 500;

/** English text without one of these names no time. */
const ENGLISH_CUE =
  /\b\d|\b(?:ago|yesterday|last|past|previous|this|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)/i;

export function dateCueIn(text: string): DateCue | undefined {
  const read = text.slice(0, READ_CHARACTERS).normalize("NFKC").replace(/\s+/g, " ").slice(0, READ_CHARACTERS);
  const language = languageOf(read);
  return language === "en" && !ENGLISH_CUE.test(read) ? undefined : { read, language };
}
