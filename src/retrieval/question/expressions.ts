/**
 * Reads the dates that chrono-node finds in a question: days, distances ("four weeks ago"), whole units ("last month")
 * and windows ("the past two months"). chrono-node is made for calendars and accepts much that is not a date here:
 * times of day, durations, today and bare numbers are rejected, and a weekday alone means a habit.
 */
import type { ParsedComponents, ParsedResult } from "chrono-node";
import type { Calendar, Range } from "./calendar.js";
import type { Language } from "./language.js";
import { latest, type Mention } from "./mention.js";
import { parserOf } from "./parsers.js";
import { type Vocabulary, vocabularyOf } from "./vocabulary.js";

export function expressionsIn(text: string, language: Language, calendar: Calendar): Mention[] {
  // Noon of the asker's day in this machine's local time, which chrono-node computes in. No time zone skips noon.
  const reference = new Date(calendar.year, calendar.month - 1, calendar.day, 12);
  const reader = new Reader(text, language, calendar);
  return parserOf(language)
    .parse(text, reference)
    .flatMap((result) => reader.read(result));
}

/** A distance from an event other than the question: "two days before I left". */
const FROM_ELSEWHERE =
  /(?:before|earlier|later|after|prior|antes|después|avant|après|vorher|später|prima|dopo|eerder)$/iu;
/** "3.12", "24/7", "1.2.20": numbers alone are a date only with a four-digit year. */
const NUMBERS_ONLY = /^[\d\s./:-]+$/;
const WEEKEND = /weekend/i;
const WEEK = /week/i;
/** Past tense: "did I … on Monday". */
const ENGLISH_PAST = /\b(?:did|was|were|had|happened)\b/i;

class Reader {
  readonly #text: string;
  readonly #language: Language;
  readonly #calendar: Calendar;
  readonly #last: RegExp | undefined;

  constructor(text: string, language: Language, calendar: Calendar) {
    this.#text = text;
    this.#language = language;
    this.#calendar = calendar;
    const words: Vocabulary | undefined = vocabularyOf(language);
    this.#last = words && new RegExp(`(?<![\\p{L}])(?:${words.last})(?![\\p{L}])`, "iu");
  }

  read(result: ParsedResult): Mention[] {
    const { start, end, text, index } = result;
    if (/^[+-]/.test(text) || FROM_ELSEWHERE.test(text) || start.tags().has("result/relativeDateAndTime")) return [];
    if (NUMBERS_ONLY.test(text) && !/\d{4}/.test(text)) return [];
    const place = { start: index, end: index + text.length };
    // "the last week of May" is read as May.
    if (this.#language === "en" && this.#text.startsWith(" of ", place.end)) return [];
    const hasYear = isYearIn(text, start) || (end ? isYearIn(text, end) : false);
    if (end) return this.#span(start, end, hasYear, place);
    if (start.isCertain("day")) return this.#day(result, hasYear, place);
    if (start.isCertain("weekday")) return this.#weekday(result, place);
    if (start.isCertain("month")) return this.#month(result, hasYear, place);
    const { year, month, day } = dateOf(start);
    if (start.isCertain("year")) {
      if (hasYear) return [{ ...place, ...this.#calendar.yearRange(year), isRelative: false, wholeYear: year }];
      const range = this.#unitsBack(result, 12, this.#calendar.year - year, 183);
      const isWhole = range.to - range.from <= 366 * 86_400_000 && range.from === this.#calendar.at(year);
      return [{ ...place, ...range, isRelative: true, ...(isWhole && { wholeYear: year }) }];
    }
    // "this week": chrono-node is certain of no part, and its weeks begin on Sunday.
    if (!WEEK.test(text)) return [];
    return [{ ...place, ...this.#calendar.weekRange(year, month, day + 1), isRelative: true }];
  }

  #span(start: ParsedComponents, end: ParsedComponents, hasYear: boolean, place: TextRange): Mention[] {
    // A span of months is read by periods.ts, if the language has a grammar there. A span of hours is not a date.
    if (!start.isCertain("day") || !end.isCertain("day")) return [];
    const [first, last] = [dateOf(start), dateOf(end)];
    const inYear = (year: number): Range => ({
      from: this.#calendar.at(year, first.month, first.day),
      to: this.#calendar.at(year + last.year - first.year, last.month, last.day + 1),
    });
    if (hasYear) return [{ ...place, ...inYear(first.year), isRelative: false }];
    return [{ ...place, ...latest(this.#calendar, inYear), isRelative: true, inYear }];
  }

  #day({ start, text }: ParsedResult, hasYear: boolean, place: TextRange): Mention[] {
    const { year, month, day } = dateOf(start);
    const inYear = (someYear: number): Range => this.#calendar.dayRange(someYear, month, day);
    const bothWays = this.#bothWays(text, place);
    if (bothWays.length > 0) return bothWays;
    if (hasYear) return [{ ...place, ...inYear(year), isRelative: false }];
    if (!start.isCertain("year")) return [{ ...place, ...latest(this.#calendar, inYear), isRelative: true, inYear }];
    const days = this.#calendar.daysSince(year, month, day);
    // Today says little about the time meant: "what should I do today".
    if (days <= 0) return [];
    const isWeeks = start.tags().has("result/relativeDate") && !start.isCertain("weekday");
    const isLast = this.#last?.test(text) === true && start.tags().has("result/relativeDate");
    if (!isLast) return [{ ...place, ...inYear(year), isRelative: true }];
    if (isWeeks && days === 7 && !this.#isWindow(text, place)) {
      return [{ ...place, ...this.#calendar.weekRange(year, month, day), isRelative: true }];
    }
    return [{ ...place, from: this.#calendar.at(year, month, day), to: this.#calendar.askedAt, isRelative: true }];
  }

  /** "05/07/2023" in English: countries disagree on the order of month and day, so both readings count. */
  #bothWays(text: string, place: TextRange): Mention[] {
    const [, first, second, year] = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(text)?.map(Number) ?? [];
    if (this.#language !== "en" || !first || !second || !year || first > 12 || second > 12) return [];
    const both = [this.#calendar.dayRange(year, first, second), this.#calendar.dayRange(year, second, first)];
    return both.map((range) => ({ ...place, ...range, isRelative: false }));
  }

  /** A weekday counts only beside "last", or in English after "on" in a question in the past tense. */
  #weekday({ start, text }: ParsedResult, place: TextRange): Mention[] {
    const around = this.#text.slice(Math.max(0, place.start - 12), place.end + 12);
    const isOn = this.#language === "en" && /^on /i.test(text) && ENGLISH_PAST.test(this.#text);
    if (!this.#last?.test(around) && !isOn) return [];
    const { year, month, day } = dateOf(start);
    const back = this.#calendar.daysSince(year, month, day) < (isOn ? 1 : 0) ? 7 : 0;
    if (!WEEKEND.test(text))
      return [{ ...place, ...this.#calendar.dayRange(year, month, day - back), isRelative: true }];
    // Saturday and Sunday; chrono-node returns the Sunday.
    const { to } = this.#calendar.dayRange(year, month, day - back);
    return [{ ...place, from: this.#calendar.at(year, month, day - back - 1), to, isRelative: true }];
  }

  #month(result: ParsedResult, hasYear: boolean, place: TextRange): Mention[] {
    const { year, month } = dateOf(result.start);
    if (hasYear) return [{ ...place, ...this.#calendar.monthRange(year, month), isRelative: false }];
    if (result.start.isCertain("year")) {
      const months = (this.#calendar.year - year) * 12 + this.#calendar.month - month;
      return [{ ...place, ...this.#unitsBack(result, 1, months, 15), isRelative: true }];
    }
    // A bare month is read by periods.ts, which requires a word before it. These languages inflect months or write that
    // word as part of them.
    if (!["ru", "uk", "ar", "vi", "zh"].includes(this.#language)) return [];
    const inYear = (someYear: number): Range => this.#calendar.monthRange(someYear, month);
    return [{ ...place, ...latest(this.#calendar, inYear), isRelative: true, inYear }];
  }

  /** The range `units` back: the whole unit for "last month", a window for "the past two months", else days around. */
  #unitsBack({ start, text, index }: ParsedResult, monthsPerUnit: number, units: number, days: number): Range {
    const { year, month, day } = dateOf(start);
    const whole = monthsPerUnit === 1 ? this.#calendar.monthRange(year, month) : this.#calendar.yearRange(year);
    if (units <= 0) return whole;
    if (!this.#last?.test(text)) return this.#calendar.around(year, month, day, days);
    if (units === 1 && !this.#isWindow(text, { start: index, end: index + text.length })) return whole;
    return { from: this.#calendar.at(year, month, day), to: this.#calendar.askedAt };
  }

  /** In English, "last month" is a calendar month; "the past month" and "the last month" extend to now. */
  #isWindow(text: string, place: TextRange): boolean {
    if (this.#language !== "en") return false;
    return /^past\b/i.test(text) || /\bthe $/i.test(this.#text.slice(0, place.start));
  }
}

interface TextRange {
  readonly start: number;
  readonly end: number;
}

function dateOf(components: ParsedComponents): { year: number; month: number; day: number } {
  return {
    year: components.get("year") ?? 0,
    month: components.get("month") ?? 1,
    day: components.get("day") ?? 1,
  };
}

/** Whether the year is written in the text, so that the date does not depend on when the question is asked. */
function isYearIn(text: string, components: ParsedComponents): boolean {
  const year = String(components.get("year"));
  return components.isCertain("year") && (text.includes(year) || new RegExp(`(?<!\\d)'?${year.slice(-2)}$`).test(text));
}
