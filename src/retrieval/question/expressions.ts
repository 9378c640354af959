/**
 * What chrono-node finds in a question, as mentions: days, distances ("four weeks ago"), whole units ("last month") and
 * windows ("the past two months"). chrono-node is made for calendars and takes much for a date; here it has to be one:
 * times of day, durations, today, and bare numbers are none, and a weekday alone is a habit.
 */
import type { ParsedComponents, ParsedResult } from "chrono-node";
import type { Calendar, Range } from "./calendar.js";
import type { Language } from "./language.js";
import { latest, type Mention } from "./mention.js";
import { parserOf } from "./parsers.js";
import { type Vocabulary, vocabularyOf } from "./vocabulary.js";

export function expressionsIn(text: string, language: Language, calendar: Calendar): Mention[] {
  // Noon of the asker's day on this machine's clock: chrono-node computes in local time, and no noon is skipped.
  const reference = new Date(calendar.year, calendar.month - 1, calendar.day, 12);
  const reader = new Reader(text, language, calendar);
  return parserOf(language)
    .parse(text, reference)
    .flatMap((result) => reader.read(result));
}

/** A distance from another event than the asking: "two days before I left". */
const FROM_ELSEWHERE =
  /(?:before|earlier|later|after|prior|antes|después|avant|après|vorher|später|prima|dopo|eerder)$/iu;
/** "3.12", "24/7", "1.2.20": numbers are dates only if they have a whole year. */
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
    // "the last week of May" is May's.
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
    // "this week": chrono-node is certain of nothing, and begins on Sunday.
    if (!WEEK.test(text)) return [];
    return [{ ...place, ...this.#calendar.weekRange(year, month, day + 1), isRelative: true }];
  }

  #span(start: ParsedComponents, end: ParsedComponents, hasYear: boolean, place: Place): Mention[] {
    // A span of months in a language that has a grammar of periods is read there; one of hours is none.
    if (!start.isCertain("day") || !end.isCertain("day")) return [];
    const [first, last] = [dateOf(start), dateOf(end)];
    const inYear = (year: number): Range => ({
      from: this.#calendar.at(year, first.month, first.day),
      to: this.#calendar.at(year + last.year - first.year, last.month, last.day + 1),
    });
    if (hasYear) return [{ ...place, ...inYear(first.year), isRelative: false }];
    return [{ ...place, ...latest(this.#calendar, inYear), isRelative: true, inYear }];
  }

  #day({ start, text }: ParsedResult, hasYear: boolean, place: Place): Mention[] {
    const { year, month, day } = dateOf(start);
    const inYear = (someYear: number): Range => this.#calendar.dayRange(someYear, month, day);
    const bothWays = this.#bothWays(text, place);
    if (bothWays.length > 0) return bothWays;
    if (hasYear) return [{ ...place, ...inYear(year), isRelative: false }];
    if (!start.isCertain("year")) return [{ ...place, ...latest(this.#calendar, inYear), isRelative: true, inYear }];
    const days = this.#calendar.daysSince(year, month, day);
    // Today says little about when: "what should I do today".
    if (days <= 0) return [];
    const isWeeks = start.tags().has("result/relativeDate") && !start.isCertain("weekday");
    const isLast = this.#last?.test(text) === true && start.tags().has("result/relativeDate");
    if (!isLast) return [{ ...place, ...inYear(year), isRelative: true }];
    if (isWeeks && days === 7 && !this.#isWindow(text, place)) {
      return [{ ...place, ...this.#calendar.weekRange(year, month, day), isRelative: true }];
    }
    return [{ ...place, from: this.#calendar.at(year, month, day), to: this.#calendar.askedAt, isRelative: true }];
  }

  /** "05/07/2023" in English: whether the month or the day comes first depends on the country, so it is both. */
  #bothWays(text: string, place: Place): Mention[] {
    const [, first, second, year] = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(text)?.map(Number) ?? [];
    if (this.#language !== "en" || !first || !second || !year || first > 12 || second > 12) return [];
    const both = [this.#calendar.dayRange(year, first, second), this.#calendar.dayRange(year, second, first)];
    return both.map((range) => ({ ...place, ...range, isRelative: false }));
  }

  /** A weekday counts with "last" in it or beside it, in English also after "on" in a question about the past. */
  #weekday({ start, text }: ParsedResult, place: Place): Mention[] {
    const around = this.#text.slice(Math.max(0, place.start - 12), place.end + 12);
    const isOn = this.#language === "en" && /^on /i.test(text) && ENGLISH_PAST.test(this.#text);
    if (!this.#last?.test(around) && !isOn) return [];
    const { year, month, day } = dateOf(start);
    const back = this.#calendar.daysSince(year, month, day) < (isOn ? 1 : 0) ? 7 : 0;
    if (!WEEKEND.test(text))
      return [{ ...place, ...this.#calendar.dayRange(year, month, day - back), isRelative: true }];
    // Saturday and Sunday; chrono-node names the Sunday.
    const { to } = this.#calendar.dayRange(year, month, day - back);
    return [{ ...place, from: this.#calendar.at(year, month, day - back - 1), to, isRelative: true }];
  }

  #month(result: ParsedResult, hasYear: boolean, place: Place): Mention[] {
    const { year, month } = dateOf(result.start);
    if (hasYear) return [{ ...place, ...this.#calendar.monthRange(year, month), isRelative: false }];
    if (result.start.isCertain("year")) {
      const months = (this.#calendar.year - year) * 12 + this.#calendar.month - month;
      return [{ ...place, ...this.#unitsBack(result, 1, months, 15), isRelative: true }];
    }
    // A bare month is read as a period, where it needs a word before it; these inflect or have one in the text.
    if (!["ru", "uk", "ar", "vi", "zh"].includes(this.#language)) return [];
    const inYear = (someYear: number): Range => this.#calendar.monthRange(someYear, month);
    return [{ ...place, ...latest(this.#calendar, inYear), isRelative: true, inYear }];
  }

  /** So many units (of months) back: the whole unit for "last month", a window for "the past two", else around there. */
  #unitsBack({ start, text, index }: ParsedResult, monthsPerUnit: number, units: number, days: number): Range {
    const { year, month, day } = dateOf(start);
    const whole = monthsPerUnit === 1 ? this.#calendar.monthRange(year, month) : this.#calendar.yearRange(year);
    if (units <= 0) return whole;
    if (!this.#last?.test(text)) return this.#calendar.around(year, month, day, days);
    if (units === 1 && !this.#isWindow(text, { start: index, end: index + text.length })) return whole;
    return { from: this.#calendar.at(year, month, day), to: this.#calendar.askedAt };
  }

  /** In English "last month" is a month of the calendar, "the past month" and "the last month" reach until now. */
  #isWindow(text: string, place: Place): boolean {
    if (this.#language !== "en") return false;
    return /^past\b/i.test(text) || /\bthe $/i.test(this.#text.slice(0, place.start));
  }
}

interface Place {
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

/** The year stands in the text, so it does not depend on when it is asked. */
function isYearIn(text: string, components: ParsedComponents): boolean {
  const year = String(components.get("year"));
  return components.isCertain("year") && (text.includes(year) || new RegExp(`(?<!\\d)'?${year.slice(-2)}$`).test(text));
}
