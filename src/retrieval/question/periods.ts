/**
 * Reads months and years in a question: "in May", "from June to August 2022", "since 2021". chrono-node reads no bare
 * years, and bare months only in some languages; above all, it reads the names April, June and March, and verbs, as
 * months. Here, a bare month or year counts only after a word that makes it a date ("in", "since", "end of"). Month
 * names come from Intl, so no language needs a table.
 */
import type { Calendar, Range } from "./calendar.js";
import type { Language } from "./language.js";
import { latest, type Mention } from "./mention.js";
import { vocabularyOf } from "./vocabulary.js";

interface Grammar {
  /** Groups: the word before, the list of periods. */
  readonly list: RegExp;
  /** Groups: month, its year, or a year alone. */
  readonly period: RegExp;
  readonly since: RegExp;
  readonly span: RegExp;
  readonly to: RegExp;
  readonly months: ReadonlyMap<string, number>;
}

const grammars = new Map<Language, Grammar | undefined>();

export function periodsIn(text: string, language: Language, calendar: Calendar): Mention[] {
  if (language === "ja" || language === "zh") return ideographicPeriodsIn(text, calendar);
  if (!grammars.has(language)) grammars.set(language, grammarOf(language));
  const grammar = grammars.get(language);
  if (!grammar) return [];
  return [...text.matchAll(grammar.list)].flatMap((match) => mentionsOf(match, grammar, calendar));
}

interface Period {
  readonly month: number | undefined;
  readonly year: number | undefined;
}

function mentionsOf(match: RegExpMatchArray, grammar: Grammar, calendar: Calendar): Mention[] {
  const [whole, before = "", list = ""] = match;
  const end = (match.index ?? 0) + whole.length;
  const place = { start: end - list.length, end };
  const periods = [...list.matchAll(grammar.period)].map(
    ([, month = "", yearOfMonth, yearAlone]): Period => ({
      month: grammar.months.get(month.toLowerCase()),
      year: Number(yearOfMonth ?? yearAlone) || undefined,
    }),
  );
  const [first, last] = [periods[0], periods.at(-1)];
  if (!first || !last) return [];
  const isSpan = periods.length === 2 && (grammar.span.test(before) || grammar.to.test(list));
  // "from June" alone may be a person. With no word before it, a month needs a year, and a year is just a number.
  if (grammar.span.test(before) ? !isSpan : before === "" && !periods.some(({ month, year }) => month && year))
    return [];
  // "June and July 2022": the year applies to both.
  const read = periods.map((period) => mentionOf({ ...period, year: period.year ?? last.year }, place, calendar));
  if (isSpan && read[0] && read[1]) return [spanOf(read[0], read[1])];
  if (grammar.since.test(before))
    return read.slice(0, 1).map((mention) => ({ ...place, ...openOf(mention, calendar) }));
  return read;
}

function mentionOf({ month, year }: Period, place: { start: number; end: number }, calendar: Calendar): Mention {
  if (month === undefined) {
    const wholeYear = year ?? calendar.year;
    return { ...place, ...calendar.yearRange(wholeYear), isRelative: false, wholeYear };
  }
  if (year !== undefined) return { ...place, ...calendar.monthRange(year, month), isRelative: false };
  const inYear = (someYear: number): Range => calendar.monthRange(someYear, month);
  return { ...place, ...latest(calendar, inYear), isRelative: true, inYear };
}

/** From one to the other; "November to February" crosses a year. */
export function spanOf(first: Mention, last: Mention): Mention {
  const place = { start: first.start, end: last.end, isRelative: first.isRelative || last.isRelative };
  const year = new Date((last.from + last.to) / 2).getUTCFullYear();
  const years = first.inYear ? [first.inYear(year), first.inYear(year - 1)] : [first];
  const from = years.find((range) => range.from <= last.from)?.from ?? last.from;
  return { ...place, from, to: last.to };
}

/** From the mention until the time of asking. */
export function openOf(mention: Mention, calendar: Calendar): Mention {
  const { start, end, from } = mention;
  return { start, end, from, to: Math.max(calendar.askedAt, mention.to), isRelative: true };
}

function grammarOf(language: Language): Grammar | undefined {
  const words = vocabularyOf(language);
  // Slavic languages inflect months; chrono-node knows those forms.
  if (!words || language === "ru" || language === "uk") return undefined;
  const months = monthsOf(language);
  // "3.12", "2021s" and "$2000" are not years.
  const year = "(?<![\\p{L}\\p{N}.,$€£#-])((?:19|20)\\d\\d)(?![\\p{L}\\p{N}%]|[.,:/-]\\d)";
  const month = `(${[...months.keys()].join("|")})(?!['’]s|[\\p{L}\\p{N}])(?:,? (?:(?:${words.of}) )?${year})?`;
  const period = `(?:${month}|${year})`;
  const bare = period.replace(/\((?!\?)/g, "(?:");
  const joint = ` ?(?:,|(?:${words.and}|${words.to})(?= )) ?|(?:–|-)`;
  const before = `(?:${words.since}|${words.span}|${words.at})`;
  return {
    list: new RegExp(`(?<![\\p{L}\\p{N}])(?:(${before})(?: the year)?[ -])?(${bare}(?:(?:${joint})${bare})*)`, "giu"),
    period: new RegExp(period, "giu"),
    since: new RegExp(`^(?:${words.since})$`, "iu"),
    span: new RegExp(`^(?:${words.span})$`, "iu"),
    to: new RegExp(`(?:^|[^\\p{L}])(?:${words.to})(?:$|[^\\p{L}])`, "iu"),
    months,
  };
}

/** 2023年5月, 5月, 2023年. Not if a day or a duration follows: 5月7日, 3年間, 5个月. */
const IDEOGRAPHIC = /(?<!\d)(?:((?:19|20)\d\d)年(?:(\d{1,2})月)?|(\d{1,2})月)(?!\d)/gu;

function ideographicPeriodsIn(text: string, calendar: Calendar): Mention[] {
  return [...text.matchAll(IDEOGRAPHIC)].flatMap(({ 0: whole, 1: year, 2: monthOfYear, 3: monthAlone, index }) => {
    const month = Number(monthOfYear ?? monthAlone) || undefined;
    if (month !== undefined && month > 12) return [];
    const place = { start: index, end: index + whole.length };
    return [mentionOf({ month, year: Number(year) || undefined }, place, calendar)];
  });
}

/** The first use of Intl takes 15 ms, so English does without. */
const ENGLISH_MONTHS = "january february march april may june july august september october november december".split(
  " ",
);

function monthsOf(language: Language): Map<string, number> {
  const format = language === "en" ? undefined : new Intl.DateTimeFormat(language, { month: "long", timeZone: "UTC" });
  return new Map(
    ENGLISH_MONTHS.map((english, at) => [format?.format(Date.UTC(2023, at, 15)).toLowerCase() ?? english, at + 1]),
  );
}
