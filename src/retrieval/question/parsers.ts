/**
 * chrono-node's parsers, loaded one language at a time. Parsers for times of day, durations and the future are removed,
 * and so are the patterns for distances that ago.ts replaces: V8 compiles them at the second question, which blocks the
 * event loop for 160 ms, and some take seconds on hostile text.
 */
import { createRequire } from "node:module";
import type { Chrono, ParsingComponents } from "chrono-node";
import { agoParserOf } from "./ago.js";
import type { Language } from "./language.js";

interface Locale {
  readonly casual: Chrono;
  readonly ParsingComponents: typeof ParsingComponents;
}

/** Matches class names of parsers to remove. The patterns for distances in German and French are safe. */
const REMOVED = /TimeUnitWithin|TimeUnitLater|TimeExpression|CasualTime|(?<!DE|FR)TimeUnitAgo/;

const require = createRequire(import.meta.url);
/** Each by its whole name, for bundlers. */
const LOCALES: { readonly [language in Language]: () => Locale } = {
  en: () => require("chrono-node/en"),
  de: () => require("chrono-node/de"),
  fr: () => require("chrono-node/fr"),
  es: () => require("chrono-node/es"),
  pt: () => require("chrono-node/pt"),
  nl: () => require("chrono-node/nl"),
  it: () => require("chrono-node/it"),
  sv: () => require("chrono-node/sv"),
  fi: () => require("chrono-node/fi"),
  id: () => require("chrono-node/id"),
  vi: () => require("chrono-node/vi"),
  ru: () => require("chrono-node/ru"),
  uk: () => require("chrono-node/uk"),
  ar: () => require("chrono-node/ar"),
  ja: () => require("chrono-node/ja"),
  zh: () => require("chrono-node/zh"),
};
const parsers = new Map<Language, Chrono>();

/** Loads a parser on first use (English 25 ms, other languages 4 to 10 ms). */
export function parserOf(language: Language): Chrono {
  const known = parsers.get(language);
  if (known) return known;
  const locale = LOCALES[language]();
  const parser = locale.casual.clone();
  parser.parsers = parser.parsers.filter((one) => !REMOVED.test(one.constructor.name));
  const ago = agoParserOf(language, locale.ParsingComponents);
  if (ago) parser.parsers.push(ago);
  parsers.set(language, parser);
  return parser;
}
