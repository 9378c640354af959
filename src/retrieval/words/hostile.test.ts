/** Text that is made to hang an index: time must be linear in its length. */
import { expect, test } from "vitest";
import { analyse } from "./analyse.js";

const fill = (unit: string) => (length: number) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
const after = (start: string, unit: string) => (length: number) => start + fill(unit)(length);

const UNITS = 20_000;
const TIMES = 8;
/** Linear time gives 8, quadratic 64. */
const TIMES_MAX = 32;
/** Shorter runs are inconclusive: quadratic time on the longer text takes seconds. */
const FLOOR_MS = 2;

/** CPU time, so that other processes have no influence. */
function fastestMs(text: string, repeats: number): number {
  let fastest = Number.POSITIVE_INFINITY;
  for (let repeat = 0; repeat < repeats; repeat++) {
    const started = process.cpuUsage();
    analyse(text);
    fastest = Math.min(fastest, process.cpuUsage(started).user / 1000);
  }
  return fastest;
}

test.each([
  ["a word without end", fill("a")],
  ["capitals without end", fill("A")],
  ["digits without end", fill("1")],
  ["digits with commas", fill("1,")],
  ["digits in threes", fill("111,")],
  ["long digits before a comma", (length: number) => `${fill("1")(length)}a1,2`],
  ["apostrophes", fill("'")],
  ["letters and apostrophes", fill("a'")],
  ["possessive after possessive", after("a", "'s")],
  ["camel case", fill("aB")],
  ["acronyms", fill("AAb")],
  ["letters and digits", fill("a1")],
  ["dots", fill("a.")],
  ["hyphens", fill("a-")],
  ["slashes", fill("a/")],
  ["joiners", fill("_")],
  ["pluses", fill("c++")],
  ["URLs", fill("http://")],
  ["white space", fill(" ")],
  ["words all different", (length: number) => Array.from({ length: length / 8 }, (_, n) => `word${n}`).join(" ")],
  ["emoji", fill("😂")],
  ["one emoji joined for ever", fill("👨\u200D")],
  ["joiners without emoji", fill("\u200D")],
  ["flags", fill("🇩🇪")],
  ["tags", after("🏴", "\u{E0067}")],
  ["keycaps", fill("1\uFE0F\u20E3")],
  ["accents on one letter, in the wrong order", after("a", "\u0301\u0316")],
  ["Thai marks on one letter, in the wrong order", after("ก", "\u0E48\u0E38")],
  ["marks just below the bound", fill(`क${"\u093F".repeat(15)}`)],
  ["marks on nothing", fill("\u093F")],
  ["Chinese", fill("漢字")],
  ["Korean", fill("학교")],
  ["Thai words", fill("ฉันทำงานที่กรุงเทพ")],
  ["one Thai letter", fill("ก")],
  ["Khmer words", fill("ខ្ញុំធ្វើការ")],
  ["Hebrew quotes", fill('צ"')],
  ["characters that NFKD makes eighteen of", (length: number) => fill("\uFDFA")(length / 18)],
  ["lone surrogates", fill("\uD800")],
  // One retry: a garbage collection at the wrong moment may fail a run, a quadratic algorithm fails every time.
])("%s", { retry: 4 }, (_, make) => {
  const small = make(UNITS);
  fastestMs(small, 3);
  const ratio = fastestMs(make(UNITS * TIMES), 1) / Math.max(fastestMs(small, 3), FLOOR_MS);
  expect(ratio).toBeLessThan(TIMES_MAX);
});

test("ten million characters without a space", () => {
  expect([...analyse("x".repeat(10_000_000))]).toEqual([["x".repeat(64), 1]]);
});

test.each([
  ["accents", "\u0301", 0],
  ["letters beyond the first plane", "𐐨", 1],
  ["letters with vowel signs", "कि", 1],
  ["apostrophes between letters beyond the first plane", "𐐨'", 2],
  ["camel case beyond the first plane", "𐐀𐐨", 2],
])("millions of %s do not exhaust the stack", (_, unit, size) => {
  expect(analyse(fill(unit)(6_000_000)).size).toBe(size);
});
