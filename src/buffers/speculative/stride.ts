/**
 * Stride: continues regular steps. Two questions are a step if they differ in one place: the page, the session's name,
 * or one number, date, month or weekday of the text. "In May?" and "and in June?" are a step, too: one month each.
 */
import type { QueryOptions } from "../../input/query.js";
import { Reasons } from "./confidence.js";
import type { Guess, Predictor, Trace } from "./predictor.js";

const DAY_MS = 86_400_000;
const PAGE = 10;

export class Stride implements Predictor {
  readonly name = "stride";
  readonly after = "answered";
  /** Each page has its own: readers stop at the same one. */
  readonly #reasons = new Reasons();

  guess({ asked }: Trace): readonly Guess[] {
    const [before, last] = asked.slice(-2);
    if (!before || !last) return [];
    if (before.text !== last.text) {
      const text = nextInSeries(before.text, last.text);
      return text === undefined ? [] : [{ text, confidence: this.#reasons.of("text") }];
    }
    const page = nextPage(before.options, last.options);
    if (page !== undefined) {
      const confidence = this.#reasons.of(`offset ${page}`);
      return [{ text: last.text, options: { ...last.options, offset: page }, confidence }];
    }
    const session = nextName(before.options.session, last.options.session);
    if (session === undefined) return [];
    return [{ text: last.text, options: { ...last.options, session }, confidence: this.#reasons.of("session") }];
  }
}

function nextPage(before: QueryOptions, last: QueryOptions): number | undefined {
  const { offset = 0, topK = PAGE } = last;
  const step = offset - (before.offset ?? 0);
  return step > 0 && step === topK ? offset + step : undefined;
}

const nextName = (before: unknown, last: unknown): string | undefined =>
  typeof before === "string" && typeof last === "string" ? nextInSeries(before, last) : undefined;

/** The text that follows two texts, if both have exactly one member of the same series, or differ only in one. */
export function nextInSeries(before: string, last: string): string | undefined {
  const from = tokensOf(before);
  const to = tokensOf(last);
  const differing = to.flatMap((token, at) => (from[at] === token ? [] : [at]));
  const isSame = from.length === to.length && differing.length === 1;
  const members = (tokens: readonly string[]) => tokens.flatMap((token, at) => (seriesOf(token) ? [at] : []));
  const [[fromAt, ...fromMore], [toAt, ...toMore]] = isSame ? [differing, differing] : [members(from), members(to)];
  if (fromAt === undefined || toAt === undefined || fromMore.length > 0 || toMore.length > 0) return undefined;
  const next = nextMember(from[fromAt] as string, to[toAt] as string);
  return next === undefined ? undefined : to.with(toAt, next).join("");
}

/** Dates, numbers, words, and what is between them. */
const tokensOf = (text: string): string[] => text.match(/\d{4}-\d{2}-\d{2}|\d+|\p{L}+|[^\p{L}\d]+/gu) ?? [];

interface Series {
  readonly name: string;
  readonly at: number;
  /** Spells a member as this one is spelled. */
  readonly spell: (at: number) => string | undefined;
}

const MONTHS = "january february march april may june july august september october november december".split(" ");
const WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split(" ");

function seriesOf(token: string): Series | undefined {
  if (/^\d{4}-\d{2}-\d{2}$/.test(token)) {
    const time = Date.parse(token);
    if (Number.isNaN(time)) return undefined;
    return { name: "date", at: time / DAY_MS, spell: (day) => new Date(day * DAY_MS).toISOString().slice(0, 10) };
  }
  if (/^\d{1,9}$/.test(token)) {
    const spell = (number: number) => (number < 0 ? undefined : String(number).padStart(token.length, "0"));
    return { name: "number", at: Number(token), spell };
  }
  const lower = token.toLowerCase();
  for (const [name, words] of Object.entries({ month: MONTHS, weekday: WEEKDAYS })) {
    for (const length of [undefined, 3]) {
      const at = words.findIndex((word) => word.slice(0, length) === lower);
      if (at >= 0) return { name, at, spell: (next) => cased(words.at(next % words.length)?.slice(0, length), token) };
    }
  }
  return undefined;
}

function nextMember(before: string, last: string): string | undefined {
  const from = seriesOf(before);
  const to = seriesOf(last);
  if (!from || !to || from.name !== to.name || from.at === to.at) return undefined;
  const wraps = from.name === "month" ? MONTHS.length : from.name === "weekday" ? WEEKDAYS.length : 0;
  const step = wraps > 0 ? (to.at - from.at + wraps) % wraps : to.at - from.at;
  return to.spell(to.at + step);
}

function cased(word: string | undefined, like: string): string | undefined {
  if (word === undefined || like === like.toLowerCase()) return word;
  return like === like.toUpperCase() ? word.toUpperCase() : word.charAt(0).toUpperCase() + word.slice(1);
}
