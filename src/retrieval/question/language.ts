/**
 * Detects which of chrono-node's languages a question is in: by script if that is conclusive, else by a few words that
 * are frequent in questions; English by default.
 */

export type Language =
  | "en"
  | "de"
  | "fr"
  | "es"
  | "pt"
  | "nl"
  | "it"
  | "sv"
  | "fi"
  | "id"
  | "vi"
  | "ru"
  | "uk"
  | "ar"
  | "ja"
  | "zh";

/** Words that are frequent in questions of one language and rare in the others. A word may count for several. */
const FREQUENT: readonly (readonly [Language, string])[] = [
  ["en", "the what when where who which how did do does is was were have has my i in on to of and last ago you she he"],
  ["de", "der die das was wann wo wer wie welche welcher welches ist war hat habe ich mein meine im am vor und nicht"],
  ["de", "letzte letzten letztes letzter gestern haben wir mit zu"],
  ["fr", "le la les que quoi quand où qui comment quel quelle est était ai mon ma mes je en il et j'ai qu'est dernier"],
  ["fr", "dernière hier nous vous avec au a-t-il"],
  [
    "es",
    "el la los las qué cuándo dónde quién cómo cuál es era mi mis yo en y ayer hace pasado pasada fui fue con del",
  ],
  [
    "pt",
    "o os as que quando onde quem como qual é era meu minha eu em e ontem há passado passada foi com do da no na fiz",
  ],
  [
    "nl",
    "de het een wat wanneer waar wie hoe welke is was heb heeft mijn ik op van en gisteren geleden vorige wij met",
  ],
  [
    "it",
    "il lo la gli che cosa quando dove chi come quale è era mio mia io nel e ieri fa scorso scorsa ho con del della",
  ],
  ["sv", "vad när var vem hur vilken är hade har min mitt jag på av och igår sedan förra den det med"],
  ["fi", "mitä milloin missä kuka miten mikä on oli olen minun minä ja eilen sitten viime kanssa"],
  ["id", "apa kapan dimana siapa bagaimana yang adalah saya aku di pada dan kemarin lalu bulan dengan"],
];

const languagesByWord = new Map<string, Language[]>();
for (const [language, words] of FREQUENT) {
  for (const word of words.split(" ")) {
    const known = languagesByWord.get(word);
    if (known) known.push(language);
    else languagesByWord.set(word, [language]);
  }
}

const VIETNAMESE = /[ăđơưạảấầẩẫậắằẳẵặẹẻẽếềểễệịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ]/iu;

export function languageOf(text: string): Language {
  if (VIETNAMESE.test(text)) return "vi";
  const [language, count] = languageByWords(text);
  // A name in another script does not change the language.
  if (count > 1) return language;
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return "ja";
  if (/\p{Script=Han}/u.test(text)) return "zh";
  if (/\p{Script=Cyrillic}/u.test(text)) return /[іїєґ]/iu.test(text) ? "uk" : "ru";
  if (/\p{Script=Arabic}/u.test(text)) return "ar";
  return language;
}

/** The language with the most frequent words in the text, and the number of those words. */
function languageByWords(text: string): readonly [Language, number] {
  const counts = new Map<Language, number>();
  for (const word of text.toLowerCase().match(/[\p{L}'-]+/gu) ?? []) {
    for (const language of languagesByWord.get(word) ?? []) counts.set(language, (counts.get(language) ?? 0) + 1);
  }
  let best: Language = "en";
  for (const [language, count] of counts) if (count > (counts.get(best) ?? 0)) best = language;
  return [best, counts.get(best) ?? 0];
}
