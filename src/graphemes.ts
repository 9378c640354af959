/**
 * Where a grapheme begins and ends, exactly, without reading the whole text.
 *
 * Intl.Segmenter takes time in proportion to the whole string for every single segment, so it is only ever given short
 * slices. A slice gives the same answer as the whole text if it starts where a grapheme starts: the rules look back no
 * further than that, and ahead no further than one code point.
 */

/** A slice of a text, in UTF-16 units; never inside a grapheme. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

type Granularity = "grapheme" | "word" | "sentence";

/** One locale everywhere: the machine's own must not decide how text is cut. English has no rules of its own. */
const LOCALE = "en";

/**
 * Letters with thousands of marks exist to hurt programs. One that has this many units or more is taken for several, the
 * only case in which a grapheme is cut: its end would take too long to find.
 */
export const GRAPHEME_UNITS_MAX = 65_536;

const segmenters = new Map<Granularity, Intl.Segmenter>();

/** A segmenter costs a millisecond to make, so it is made once, when it is first needed. */
export function segmenterOf(granularity: Granularity): Intl.Segmenter {
  const known = segmenters.get(granularity);
  if (known) return known;
  const segmenter = new Intl.Segmenter(LOCALE, { granularity });
  segmenters.set(granularity, segmenter);
  return segmenter;
}

/** Units that never continue a grapheme: white space, Latin, Greek, Cyrillic, punctuation, kana, Han, full-width forms. */
const STARTING =
  /[\t\n\r -~\u00C0-\u02FF\u0370-\u0481\u048A-\u052F\u2010-\u2027\u3000-\u3029\u3041-\u3096\u30A0-\u30FF\u4E00-\u9FFF\uFF01-\uFF60]/;
/** Units that may hold on to whatever follows them: Unicode's Prepend, and planes where more of it is likely to come. */
const HOLDING = /[\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\u0D4E\uD804-\uD807]/;

/** True when a grapheme surely starts at `at`; false when only the segmenter can say. */
export function isSureStart(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return true;
  const before = text.charAt(at - 1);
  if (before === "\n") return true;
  const here = text.charAt(at);
  if (before === "\r") return here !== "\n";
  if (!STARTING.test(here)) return false;
  const holder = /[\uDC00-\uDFFF]/.test(before) ? text.charAt(at - 2) : before;
  return !HOLDING.test(holder);
}

/** The start of the grapheme that `at` lies in. `known` is the start of some grapheme, not after `at`. */
export function graphemeStart(text: string, known: number, at: number): number {
  if (isSureStart(text, at)) return Math.min(at, text.length);
  const slice = text.slice(known, at + 2);
  return (
    known +
    (segmenterOf("grapheme")
      .segment(slice)
      .containing(at - known)?.index ?? 0)
  );
}

/** The end of the grapheme that starts at `start`. */
export function graphemeEnd(text: string, start: number): number {
  for (let units = 64; units <= GRAPHEME_UNITS_MAX; units *= 4) {
    const slice = text.slice(start, start + units);
    const length = segmenterOf("grapheme").segment(slice).containing(0)?.segment.length ?? 0;
    // The slice's last unit may be half a code point, which says nothing.
    if (length < slice.length - 1 || start + slice.length === text.length) return start + length;
  }
  return start + leading(text.slice(start, start + GRAPHEME_UNITS_MAX), GRAPHEME_UNITS_MAX - 1).length;
}

/** The leading code points of a text, at most `units` long. */
export function leading(text: string, units: number): string {
  const splitsPair = /^[\uD800-\uDBFF][\uDC00-\uDFFF]/.test(text.slice(units - 1, units + 1));
  return text.slice(0, splitsPair ? units - 1 : units);
}

/** All but the units that are a grapheme each, if another of them follows: Latin, Greek, Cyrillic, kana, Han, Hangul. */
const NOT_PLAIN =
  /[^\t\n -\u02FF\u0370-\u0481\u048A-\u052F\u2010-\u2027\u3000-\u3029\u3041-\u3096\u30A0-\u30FF\u4E00-\u9FFF\uAC00-\uD7A3\uFF01-\uFF60]/g;
const WINDOW_UNITS = 64;

export function countGraphemes(text: string): number {
  return walk(text, Number.POSITIVE_INFINITY).count;
}

/** The offset after the first `count` graphemes; the text's length if it has fewer. */
export function afterGraphemes(text: string, count: number): number {
  return walk(text, count).end;
}

/** Passes over at most `limit` graphemes. Takes time in proportion to the text, whatever it is made of. */
function walk(text: string, limit: number): { readonly count: number; readonly end: number } {
  let count = 0;
  let end = 0;
  while (count < limit && end < text.length) {
    const start = end;
    const plain = Math.min(plainUnits(text, start), limit - count);
    count += plain;
    end += plain;
    if (plain > 0) continue;
    const window = text.slice(start, start + WINDOW_UNITS);
    // What ends later may go on beyond the window, whose last unit may be half a code point, which says nothing.
    const settled = start + window.length === text.length ? window.length : window.length - 2;
    for (const { index, segment } of segmenterOf("grapheme").segment(window)) {
      if (count === limit || index + segment.length > settled) break;
      count++;
      end = start + index + segment.length;
    }
    if (end > start) continue;
    count++;
    end = graphemeEnd(text, start);
  }
  return { count, end };
}

/** How many units from `start`, where a grapheme starts, are one each. The last of a run may carry a mark: not counted. */
function plainUnits(text: string, start: number): number {
  NOT_PLAIN.lastIndex = start;
  const end = NOT_PLAIN.exec(text)?.index ?? text.length;
  return end === text.length ? end - start : Math.max(0, end - start - 1);
}

/** White space as String.prototype.trim knows it. */
export function isSpace(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code < 0x80) return code === 0x20 || (code >= 0x09 && code <= 0x0d);
  return /\s/.test(text.charAt(at));
}

/** Skips white space, but not one that carries a combining mark. */
export function afterSpace(text: string, start: number): number {
  const run = /\s*/y;
  run.lastIndex = start;
  run.test(text);
  const end = run.lastIndex;
  return end === start ? start : graphemeStart(text, end - 1, end);
}

/** The span without the white space around it; undefined if nothing is left. Both ends are grapheme boundaries. */
export function trimmed(text: string, start: number, end: number): Span | undefined {
  const from = isSpace(text, start) ? afterSpace(text, start) : start;
  if (from >= end) return undefined;
  let to = end;
  while (to > from && isSpace(text, to - 1)) to--;
  if (to === end) return { start: from, end };
  const last = graphemeStart(text, from, to);
  return { start: from, end: last === to ? to : graphemeEnd(text, last) };
}
