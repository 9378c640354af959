/**
 * The times that a question names, as exact ranges. A wrong range costs more than a missed one, so anything doubtful is
 * not a date. Only the beginning of a long text is read.
 */
import { Calendar, type Range } from "./calendar.js";
import { dateCueIn, NO_DATES, type QuestionDates } from "./date-cue.js";
import { expressionsIn } from "./expressions.js";
import type { Language } from "./language.js";
import type { Mention } from "./mention.js";
import { openOf, periodsIn, spanOf } from "./periods.js";
import { vocabularyOf } from "./vocabulary.js";

/** A question with more dates than this is not about any of them. */
const RANGES_MAX = 8;

/** "before May 2023" names a time that is not May. A day, in contrast, is close enough to the time before it. */
const OUTSIDE = /\b(?:before|until|till|by) $/i;
const LONG = 7 * 86_400_000;

export function datesIn(text: string, askedAt: number, timeZone?: string): QuestionDates {
  const cue = dateCueIn(text);
  if (!cue) return NO_DATES;
  const { read, language } = cue;
  const calendar = new Calendar(askedAt, timeZone);
  const expressions = expressionsIn(read, language, calendar);
  const periods = periodsIn(read, language, calendar);
  // Of two overlapping readings the longer one counts: "7 May" over "May", "June and July 2022" over "July 2022".
  const readings = [...expressions, ...periods].filter(
    (one, at, all) => !all.some((other, place) => isOver(other, one, place < at)),
  );
  const mentions = readings.sort((a, b) => a.start - b.start);
  return datesOf(joined(mentions, read, language, calendar), calendar);
}

/** Whether two readings overlap and the first is longer, or equally long and earlier in the list. */
function isOver(winner: Mention, loser: Mention, isFirst: boolean): boolean {
  const isSame = winner.start === loser.start && winner.end === loser.end;
  const longer = winner.end - winner.start - (loser.end - loser.start);
  return winner.start < loser.end && loser.start < winner.end && (longer > 0 || (longer === 0 && isFirst && !isSame));
}

/** "between 5 May and 7 May" is one range; "since Monday" extends to now. */
function joined(mentions: readonly Mention[], text: string, language: Language, calendar: Calendar): Mention[] {
  const words = vocabularyOf(language);
  if (!words) return [...mentions];
  const span = new RegExp(`(?<!\\p{L})(?:${words.span}) (?:the )?$`, "iu");
  const since = new RegExp(`(?<!\\p{L})(?:${words.since}) (?:the )?$`, "iu");
  const link = new RegExp(`^ ?(?:${words.and}|${words.to}) ?(?:the )?$`, "iu");
  const result: Mention[] = [];
  for (let at = 0; at < mentions.length; at++) {
    const [mention, next] = [mentions[at], mentions[at + 1]];
    if (!mention) continue;
    const before = text.slice(Math.max(0, mention.start - 20), mention.start);
    if (next && span.test(before) && link.test(text.slice(mention.end, next.start))) {
      result.push(spanOf(mention, next));
      at++;
    } else if (mention.to - mention.from > LONG && OUTSIDE.test(before)) continue;
    else result.push(since.test(before) ? openOf(mention, calendar) : mention);
  }
  return result;
}

function datesOf(mentions: readonly Mention[], calendar: Calendar): QuestionDates {
  // "what did she start last week, as told on 3 June 2023": "last week" is relative to that date, not to now.
  const absolute = mentions.filter(({ isRelative, wholeYear }) => !isRelative && wholeYear === undefined);
  const counted = absolute.length > 0 ? absolute : inTheirYear(mentions);
  const past = counted.filter(({ from }) => from <= calendar.askedAt);
  const ranges = past.filter(
    (one, at) => !past.some((other, place) => place !== at && isWithin(other, one, place < at)),
  );
  if (ranges.length === 0 || ranges.length > RANGES_MAX) return NO_DATES;
  return {
    ranges: ranges.map(({ from, to }) => ({ from, to })).sort((a, b) => a.from - b.from),
    isRelative: ranges.some(({ isRelative }) => isRelative),
  };
}

/** "in May last year": the month is in that year, and the year is not a range of its own. */
function inTheirYear(mentions: readonly Mention[]): readonly Mention[] {
  const years = mentions.filter(({ wholeYear }) => wholeYear !== undefined);
  const [{ wholeYear, isRelative } = {}] = years;
  const yearless = mentions.filter(({ inYear }) => inYear);
  if (years.length !== 1 || wholeYear === undefined || yearless.length === 0) return mentions;
  return yearless.map((mention) => ({ ...mention, ...mention.inYear?.(wholeYear), isRelative: isRelative ?? true }));
}

/** Whether one range contains the other; of two equal ranges the first counts. */
function isWithin(inner: Range, outer: Range, isFirst: boolean): boolean {
  const isEqual = inner.from === outer.from && inner.to === outer.to;
  return inner.from >= outer.from && inner.to <= outer.to && (!isEqual || isFirst);
}
