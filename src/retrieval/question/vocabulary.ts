/**
 * The words around a date, per language, as parts of regular expressions. chrono-node reads days and distances; these
 * words say whether they form a span, have an open end, or mean the last whole month. A language without an entry
 * supports fewer expressions.
 */
import type { Language } from "./language.js";

export interface Vocabulary {
  /** May precede a bare month or year that is a date: "in May", but not "May said". */
  readonly at: string;
  /** Opens a span: "between … and …". */
  readonly span: string;
  readonly and: string;
  readonly to: string;
  /** From that time until now. */
  readonly since: string;
  /** "last", "past": the previous unit, or all units until now. */
  readonly last: string;
  /** May stand between a month and its year: "mayo de 2023". */
  readonly of: string;
}

const en: Vocabulary = {
  at:
    "in|during|throughout|around|early|late|mid|last|past|previous|this|year|spring|summer|autumn|fall|winter|" +
    "(?:start|beginning|middle|end|half|rest|weeks?|weekend|month|spring|summer|autumn|fall|winter|year) of",
  span: "between|from",
  and: "and|or|&",
  to: "to|through|until|till|–|-",
  since: "since|after",
  last: "last|past|previous",
  of: "of|,",
};

const VOCABULARIES: { readonly [L in Language]?: Vocabulary } = {
  en,
  de: {
    at: "im|in|anfang|mitte|ende|letzten|vergangenen|diesen|jahr|jahre|frühling|frühjahr|sommer|herbst|winter",
    span: "zwischen|von",
    and: "und|oder",
    to: "bis|–|-",
    since: "seit",
    last: "letzte[nmrs]?|vergangene[nmrs]?|vorige[nmrs]?",
    of: "des jahres",
  },
  fr: {
    at: "en|début|mi|fin|courant|année|printemps|été|automne|hiver|mois de|mois d'",
    span: "entre|de",
    and: "et|ou",
    to: "à|jusqu'en|–|-",
    since: "depuis",
    last: "derni(?:er|ère|ers|ères)|passée?s?",
    of: "de",
  },
  es: {
    at: "en|durante|año|primavera de|verano de|otoño de|invierno de|mes de|finales de|principios de|mediados de",
    span: "entre|de",
    and: "y|e|o",
    to: "a|hasta|–|-",
    since: "desde",
    last: "pasad[oa]s?|últim[oa]s?",
    of: "del?",
  },
  pt: {
    at: "em|durante|ano|ano de|primavera de|verão de|outono de|inverno de|mês de|final de|fim de|início de|meados de",
    span: "entre|de",
    and: "e|ou",
    to: "a|até|–|-",
    since: "desde",
    last: "passad[oa]s?|últim[oa]s?",
    of: "de",
  },
  nl: {
    at: "in|begin|midden|eind|afgelopen|vorige|jaar|lente|zomer|herfst|winter",
    span: "tussen|van",
    and: "en|of",
    to: "tot|–|-",
    since: "sinds",
    last: "vorige?|afgelopen|laatste",
    of: "van",
  },
  it: {
    at: "a|ad|in|nel|anno|primavera|estate|autunno|inverno|mese di|fine|inizio|metà",
    span: "tra|fra|da",
    and: "e|o",
    to: "a|ad|–|-",
    since: "da|dal",
    last: "scors[oaie]|passat[oaie]|ultim[oaie]",
    of: "del?",
  },
  sv: {
    at: "i|under|år|våren|sommaren|hösten|vintern|början av|slutet av|mitten av",
    span: "mellan|från",
    and: "och|eller",
    to: "till|–|-",
    since: "sedan",
    last: "förra|senaste",
    of: "år",
  },
  id: {
    at: "bulan|tahun|pada",
    span: "antara|dari",
    and: "dan|atau",
    to: "sampai|hingga|–|-",
    since: "sejak",
    last: "terakhir",
    of: "tahun",
  },
  ru: {
    ...en,
    at: "в|во",
    span: "между|с",
    and: "и|или",
    to: "по|до|–|-",
    since: "с|со",
    last: "прошл\\p{L}*|последн\\p{L}*",
  },
  uk: {
    ...en,
    at: "в|у",
    span: "між|з",
    and: "і|й|та|або",
    to: "по|до|–|-",
    since: "з|від",
    last: "минул\\p{L}*|останн\\p{L}*",
  },
};

export function vocabularyOf(language: Language): Vocabulary | undefined {
  return VOCABULARIES[language];
}
