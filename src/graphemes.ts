/**
 * Exact grapheme boundaries without reading the whole text.
 *
 * Intl.Segmenter takes time proportional to the whole string for every single segment, so it only gets short slices. A
 * slice gives the same boundaries as the whole text if it starts at a boundary: the rules look back no further than
 * that, and ahead no further than one code point.
 */

/** A slice of a text, in UTF-16 units; both ends are grapheme boundaries. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

type Granularity = "grapheme" | "word" | "sentence";

/** A fixed locale, so that the machine's locale does not affect how text is cut. English has no special rules. */
const LOCALE = "en";

/**
 * Text with thousands of marks on one letter is made to attack programs. A grapheme of at least this many units is
 * treated as several, because finding its end would take too long; this is the only case in which a grapheme is cut.
 */
export const GRAPHEME_UNITS_MAX = 65_536;

const segmenters = new Map<Granularity, Intl.Segmenter>();

/** Creating a segmenter takes a millisecond, so each is created once, on first use. */
export function segmenterOf(granularity: Granularity): Intl.Segmenter {
  const known = segmenters.get(granularity);
  if (known) return known;
  const segmenter = new Intl.Segmenter(LOCALE, { granularity });
  segmenters.set(granularity, segmenter);
  return segmenter;
}

/**
 * Units that never continue a grapheme: white space, Latin, Greek, Cyrillic, punctuation, kana, Han, full-width forms.
 */
const STARTING =
  /[\t\n\r -~\u00C0-\u02FF\u0370-\u0481\u048A-\u052F\u2010-\u2027\u3000-\u3029\u3041-\u3096\u30A0-\u30FF\u4E00-\u9FFF\uFF01-\uFF60]/;
/** Units that may attach to what follows: Unicode's Prepend, and planes where more of it is likely to be added. */
const HOLDING = /[\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\u0D4E\uD804-\uD807]/;

/** True if a grapheme certainly starts at `at`; false if only the segmenter can tell. */
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

/** The start of the grapheme that contains `at`. `known` is a grapheme boundary at or before `at`. */
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
    // The slice's last unit may be half a code point, which is inconclusive.
    if (length < slice.length - 1 || start + slice.length === text.length) return start + length;
  }
  return start + leading(text.slice(start, start + GRAPHEME_UNITS_MAX), GRAPHEME_UNITS_MAX - 1).length;
}

/** The leading code points of a text, at most `units` long. */
export function leading(text: string, units: number): string {
  const splitsPair = /^[\uD800-\uDBFF][\uDC00-\uDFFF]/.test(text.slice(units - 1, units + 1));
  return text.slice(0, splitsPair ? units - 1 : units);
}

/**
 * Everything but units that are one grapheme each if another of them follows: Latin, Greek, Cyrillic, kana, Han,
 * Hangul.
 */
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

/** Skips at most `limit` graphemes. Takes linear time, whatever the text. */
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
    // A segment that ends later may continue beyond the window, whose last unit may be half a code point.
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

/**
 * The number of units from the boundary `start` that are one grapheme each. The last of a run may carry a mark and is
 * not counted.
 */
function plainUnits(text: string, start: number): number {
  NOT_PLAIN.lastIndex = start;
  const end = NOT_PLAIN.exec(text)?.index ?? text.length;
  return end === text.length ? end - start : Math.max(0, end - start - 1);
}

/** White space as defined by String.prototype.trim. */
export function isSpace(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code < 0x80) return code === 0x20 || (code >= 0x09 && code <= 0x0d);
  return /\s/.test(text.charAt(at));
}

/** Skips white space, but not a space that carries a combining mark. */
export function afterSpace(text: string, start: number): number {
  const run = /\s*/y;
  run.lastIndex = start;
  run.test(text);
  const end = run.lastIndex;
  return end === start ? start : graphemeStart(text, end - 1, end);
}

/** The span without surrounding white space; undefined if nothing is left. Both ends are grapheme boundaries. */
export function trimmed(text: string, start: number, end: number): Span | undefined {
  const from = isSpace(text, start) ? afterSpace(text, start) : start;
  if (from >= end) return undefined;
  let to = end;
  while (to > from && isSpace(text, to - 1)) to--;
  if (to === end) return { start: from, end };
  const last = graphemeStart(text, from, to);
  return { start: from, end: last === to ? to : graphemeEnd(text, last) };
}
