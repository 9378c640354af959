/** Text that is made to hang a chunker: time must be linear in its length, and no single step may take long. */
import { expect, test } from "vitest";
import { pieces } from "./pieces.js";

const fill = (unit: string) => (length: number) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
const after = (start: string, unit: string) => (length: number) => start + fill(unit)(length);

const UNITS = 40_000;
const TIMES = 8;
/** Linear time gives 8, quadratic 64. */
const TIMES_MAX = 24;
/** Shorter runs are inconclusive. */
const FLOOR_MS = 2;

/** CPU time, so that other processes have no influence. */
function fastestMs(text: string, repeats: number): number {
  let fastest = Number.POSITIVE_INFINITY;
  for (let repeat = 0; repeat < repeats; repeat++) {
    const started = process.cpuUsage();
    for (const _ of pieces(text));
    fastest = Math.min(fastest, process.cpuUsage(started).user / 1000);
  }
  return fastest;
}

test.each([
  ["sentences", fill("I was there. Were you? ")],
  ["a word without end", fill("a")],
  ["line ends", fill("\n")],
  ["spaces", fill(" ")],
  ["spaces after a sentence", after("Hi. ", " ")],
  ["lines of one letter", fill("a\n")],
  ["full stops", fill(".")],
  ["letters and full stops", fill("a.")],
  ["families", fill("👨‍👩‍👧‍👦")],
  ["one emoji joined for ever", fill("👩\u200D")],
  ["flags", fill("🇩")],
  ["a letter with marks without end", after("a", "\u0301")],
  ["spaces with marks", fill(" \u0301")],
  ["one Indic conjunct for ever", fill("क्")],
  ["signs that hold on to what follows", fill("\u0600")],
  ["Hangul without end", fill("\u1100")],
  ["Chinese without a full stop", fill("今天天气很好我们去公园玩吧")],
  ["Thai without a space", fill("วันนี้อากาศดีมากไปเที่ยวกันเถอะ")],
  // One retry: a garbage collection at the wrong moment may fail a run, a quadratic algorithm fails every time.
])("%s: eight times the text takes about eight times the time", { retry: 4 }, (_what, make) => {
  const short = fastestMs(make(UNITS), 3);
  const long = fastestMs(make(UNITS * TIMES), 1);
  expect(long).toBeLessThan(Math.max(FLOOR_MS, short) * TIMES_MAX);
});
