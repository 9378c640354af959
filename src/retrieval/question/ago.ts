/**
 * "Three weeks ago" in the languages that chrono-node does not support or does not parse safely: some of its patterns
 * take seconds for a hundred hostile characters (8 s in Russian), and the English one takes 160 ms to compile. The
 * pattern here is a number, a unit and the word for "ago"; nothing in it repeats, so time is linear.
 */
import type { Parser, ParsingComponents } from "chrono-node";
import type { Language } from "./language.js";

type Unit = "day" | "week" | "month" | "year";

interface Ago {
  readonly before?: string;
  readonly after?: string;
  /** The words for 1, 2, 3 …, separated by spaces; alternatives for one number by a bar. */
  readonly numbers: string;
  /** Patterns for day, week, month and year. */
  readonly units: readonly [day: string, week: string, month: string, year: string];
}

const ROWS: { readonly [L in Language]?: Ago } = {
  en: {
    after: "ago|back",
    numbers: "a|an|one two|couple|couple_of three|few four five six seven eight nine ten eleven twelve",
    units: ["days?", "weeks?", "months?", "years?"],
  },
  es: {
    before: "hace",
    numbers: "un|una dos tres cuatro cinco seis siete ocho nueve diez",
    units: ["días?", "semanas?", "mes(?:es)?", "años?"],
  },
  pt: {
    before: "há|faz",
    numbers: "um|uma dois|duas três quatro cinco seis sete oito nove dez",
    units: ["dias?", "semanas?", "m[eê]s(?:es)?", "anos?"],
  },
  it: {
    after: "fa",
    numbers: "un|una due tre quattro cinque sei sette otto nove dieci",
    units: ["giorn[oi]", "settiman[ae]", "mes[ei]", "ann[oi]"],
  },
  nl: {
    after: "geleden",
    numbers: "een|één twee drie vier vijf zes zeven acht negen tien",
    units: ["dag(?:en)?", "we[ek]+e?n?", "maand(?:en)?", "jaar|jaren"],
  },
  fi: {
    after: "sitten",
    numbers: "yksi kaksi kolme neljä viisi kuusi seitsemän kahdeksan yhdeksän kymmenen",
    units: ["päivää?", "viikkoa?", "kuukau(?:si|tta)", "vuo(?:si|tta)"],
  },
  id: {
    after: "lalu|yang lalu",
    numbers: "satu dua tiga empat lima enam tujuh delapan sembilan sepuluh",
    units: ["hari", "minggu", "bulan", "tahun"],
  },
  ru: {
    after: "назад",
    numbers: "один|одну два|две|пару три четыре пять шесть семь восемь девять десять",
    units: ["день|дня|дней", "недел[юиья]", "месяц(?:а|ев)?", "года?|лет"],
  },
  uk: {
    after: "тому",
    numbers: "один|одну два|дві|пару три чотири п['’]ять шість сім вісім дев['’]ять десять",
    units: ["день|дн[іяв]|днів", "тиж(?:день|ні|нів)", "місяц[іья]?|місяців", "рок[иу]|років|рік"],
  },
  vi: {
    after: "trước",
    numbers: "một hai ba bốn năm sáu bảy tám chín mười",
    units: ["ngày", "tuần", "tháng", "năm"],
  },
};
const UNITS: readonly Unit[] = ["day", "week", "month", "year"];

/** A parser for chrono-node; undefined if the language's own one is used. */
export function agoParserOf(language: Language, Components: typeof ParsingComponents): Parser | undefined {
  const ago = ROWS[language];
  if (!ago) return undefined;
  const numbers = ago.numbers.split(" ").map((words) => words.replace("_", " "));
  const number = `(\\d{1,3}|${numbers.join("|")})`;
  const unit = ago.units.map((word) => `(${word})`).join("|");
  const pattern = new RegExp(
    `(?<!\\p{L}|half )${ago.before ? `(?:${ago.before}) ` : ""}(?:a )?${number} (?:${unit})${ago.after ? ` (?:${ago.after})` : ""}(?!\\p{L})`,
    "iu",
  );
  const values = numbers.map((words) => new RegExp(`^(?:${words})$`, "iu"));
  return {
    pattern: () => pattern,
    extract: ({ reference }, [, count = "", ...units]) => {
      const found = UNITS[units.findIndex((word) => word !== undefined)];
      const value = Number(count) || values.findIndex((words) => words.test(count)) + 1;
      return found ? Components.createRelativeFromReference(reference, { [found]: -value }) : null;
    },
  };
}
