/**
 * Kinds of identifiers, and the ways in which people write them. In a pattern, # is a digit, ^ a capital, ? a lower-case
 * letter, % a hexadecimal digit and | one of . - _; other characters are literal.
 */
export interface Kind {
  readonly name: string;
  readonly patterns: readonly string[];
  /** Spellings of the same identifier. The first is the most common. */
  readonly spellings: readonly ((identifier: string) => string)[];
}

const asIs = (text: string): string => text;
const upper = (text: string): string => text.toUpperCase();
const lower = (text: string): string => text.toLowerCase();
const solid = (text: string): string => text.replace(/[^a-z0-9]/gi, "");
const joined = (by: string) => (text: string) => text.replace(/[^a-z0-9]+/gi, by);
const grouped = (size: number, by: string) => (text: string) =>
  (solid(text).match(new RegExp(`.{1,${size}}`, "g")) ?? []).join(by);
const after = (start: string) => (text: string) => start + text;
const before = (end: string) => (text: string) => text + end;

/** The parts of a phone number "+49 171 2345678": country, area and number. */
const phone =
  (write: (country: string, area: string, number: string) => string) =>
  (text: string): string => {
    const [country = "", area = "", number = ""] = text.slice(1).split(" ");
    return write(country, area, number);
  };
const pairs = (digits: string): string => (digits.match(/.{1,2}/g) ?? []).join(" ");

const PHONES = [
  phone((country, area, number) => `+${country} ${area} ${number}`),
  phone((_, area, number) => `0${area} ${number}`),
  phone((_, area, number) => `0${area}/${number}`),
  phone((_, area, number) => `(0${area}) ${pairs(number)}`),
  phone((country, area, number) => `+${country} (0)${area} ${number}`),
  phone((country, area, number) => `00${country} ${area} ${number.slice(0, 3)} ${number.slice(3)}`),
  phone((country, area, number) => `+${country}${area}${number}`),
  phone((_, area, number) => `0${area}-${number.slice(0, 3)}-${number.slice(3)}`),
  phone((_, area, number) => `0${area}${number}`),
];

/** The six kinds that the target covers. */
export const MAIN: readonly Kind[] = [
  {
    name: "order number",
    patterns: ["^-####-##", "ORD-######", "^^####-###", "########"],
    spellings: [asIs, after("#"), solid, joined(" "), lower, joined("/"), after("No. ")],
  },
  { name: "phone number", patterns: ["+49 17# #######", "+44 20 ########", "+43 66# ######"], spellings: PHONES },
  {
    name: "e-mail",
    patterns: ["????|????@example.com", "?????##@mail.example.org", "?.??????@ex?mple.net"],
    spellings: [asIs, upper, (text) => text.replace(/^./, upper), after("mailto:"), (text) => `<${text}>`],
  },
  {
    name: "hash",
    patterns: [
      "%%%%%%%1",
      "%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%1",
      "%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%1",
    ],
    spellings: [asIs, upper, lower],
  },
  {
    name: "version",
    patterns: ["#.#.##", "1#.#.#", "#.##.#-rc.#", "2#.0#.1##"],
    spellings: [asIs, after("v"), after("V"), after("version ")],
  },
  {
    name: "IBAN",
    patterns: ["DE## #### #### #### #### ##", "AT## #### #### #### ####", "GB## NWBK #### #### #### ##"],
    spellings: [asIs, solid, joined("-"), lower, (text) => lower(solid(text))],
  },
];

/** Other kinds, for which nothing was optimised. */
export const OTHERS: readonly Kind[] = [
  {
    name: "UUID",
    patterns: ["%%%%%%%%-%%%%-4%%%-a%%%-%%%%%%%%%%%%"],
    spellings: [asIs, upper, solid, (text) => `{${text}}`],
  },
  {
    name: "IP address",
    patterns: ["10.##.1##.1#", "192.168.1##.##"],
    spellings: [asIs, before(":8080"), after("http://")],
  },
  {
    name: "MAC address",
    patterns: ["%%:%%:%%:%%:%%:%%"],
    spellings: [asIs, upper, joined("-"), grouped(4, "."), solid],
  },
  {
    name: "licence plate",
    patterns: ["^-^^ ####", "^^## ^^^", "^^ ### ^^"],
    spellings: [asIs, solid, joined(" "), joined("-"), lower],
  },
  { name: "ISBN", patterns: ["978-3-##-######-#"], spellings: [asIs, joined(" "), solid, after("ISBN ")] },
  {
    name: "tracking number",
    patterns: ["1Z ### ^^# ## #### ####", "JD01 #### #### ####"],
    spellings: [asIs, solid, lower],
  },
  { name: "ticket", patterns: ["PROJ-####", "OPS-###"], spellings: [asIs, lower, joined(" "), (text) => `[${text}]`] },
  {
    name: "file",
    patterns: ["report_????_##.pdf", "IMG_####.jpg", "????-notes.txt"],
    spellings: [asIs, upper, after("docs/")],
  },
  {
    name: "URL",
    patterns: ["https://www.example.com/item/??????", "https://shop.example.com/view\\?id=######&lang=en"],
    spellings: [
      asIs,
      (text) => text.replace(/^https:\/\/(?:www\.)?/, ""),
      (text) => text.replace("https", "http"),
      before("/"),
    ],
  },
  {
    name: "coordinates",
    patterns: ["52.####, 13.####"],
    spellings: [asIs, (text) => text.replace(", ", ","), (text) => `(${text})`],
  },
  { name: "card number", patterns: ["4### #### #### ####"], spellings: [asIs, solid, joined("-")] },
  {
    name: "price",
    patterns: ["1,###.##", "##,###.50"],
    spellings: [asIs, (text) => text.replace(",", ""), after("$"), before(" USD")],
  },
  { name: "time", patterns: ["1#:#3", "2:#4:##"], spellings: [asIs, after("at "), before("h")] },
  { name: "colour", patterns: ["\\#%%%%%1"], spellings: [asIs, upper, (text) => text.slice(1)] },
  { name: "flight", patterns: ["LH ###", "BA ####"], spellings: [asIs, solid, lower, joined("-")] },
  { name: "key", patterns: ["AKIA^^##^#^^##^^"], spellings: [asIs, lower] },
];

const SIGNS: Readonly<Record<string, string>> = {
  "#": "0123456789",
  "^": "ABCDEFGHJKLMNPQRSTUVWXYZ",
  "?": "abcdefghijklmnopqrstuvwxyz",
  "%": "0123456789abcdef",
  "|": ".-_",
};

/** Identifiers of a pattern, any two of which differ in one or two characters. */
export function lookAlikes(pattern: string, count: number, pick: (limit: number) => number): readonly string[] {
  const signs = [...pattern.matchAll(/\\.|./g)].map(([sign]) => sign);
  const choose = (sign: string): string =>
    sign.length > 1
      ? sign.slice(1)
      : sign in SIGNS
        ? (SIGNS[sign]?.charAt(pick(SIGNS[sign]?.length ?? 1)) ?? "")
        : sign;
  const base = signs.map(choose);
  const places = signs.flatMap((sign, at) => (sign in SIGNS ? [at] : []));
  const one = places[pick(places.length)] ?? 0;
  const two = places.filter((place) => place !== one)[pick(places.length - 1)] ?? one;
  const found = new Set([base.join("")]);
  while (found.size < count) {
    const other = [...base];
    for (const place of [one, two]) other[place] = choose(signs[place] ?? "");
    found.add(other.join(""));
  }
  return [...found];
}
