/**
 * chrono-node's parsers, one language at a time, without those that find nothing that counts here (times of day, durations,
 * the future) and without the patterns for distances that `ago.ts` replaces. Those cost more than all others: V8 compiles
 * them at the second question, and the loop stands still for 160 ms; and some take seconds for a hostile text.
 */
import { createRequire } from "node:module";
import type { Chrono, ParsingComponents } from "chrono-node";
import { agoParserOf } from "./ago.js";
import type { Language } from "./language.js";

interface Locale {
  readonly casual: Chrono;
  readonly ParsingComponents: typeof ParsingComponents;
}

/** By the names of their classes, which say what they find. German and French have a safe pattern for distances. */
const NOT_WANTED = /TimeUnitWithin|TimeUnitLater|TimeExpression|CasualTime|(?<!DE|FR)TimeUnitAgo/;

const require = createRequire(import.meta.url);
const parsers = new Map<Language, Chrono>();

/** Loaded when the first question needs it (English 25 ms, another language 4 to 10 ms). */
export function parserOf(language: Language): Chrono {
  const known = parsers.get(language);
  if (known) return known;
  const locale = require(`chrono-node/${language}`) as Locale;
  const parser = locale.casual.clone();
  parser.parsers = parser.parsers.filter((one) => !NOT_WANTED.test(one.constructor.name));
  const ago = agoParserOf(language, locale.ParsingComponents);
  if (ago) parser.parsers.push(ago);
  parsers.set(language, parser);
  return parser;
}
