import { describe, expect, it } from "vitest";
import { languageOf } from "./language.js";

describe("languageOf", () => {
  it.each([
    ["What did she say?", "en"],
    ["Was hat sie gesagt?", "de"],
    ["Qu'est-ce que j'ai dit ?", "fr"],
    ["¿Qué dijo el médico?", "es"],
    ["O que ele disse ontem?", "pt"],
    ["Wat heeft hij gezegd?", "nl"],
    ["Che cosa ha detto ieri?", "it"],
    ["Vad gjorde jag igår?", "sv"],
    ["Mitä minä söin eilen?", "fi"],
    ["Apa yang saya beli?", "id"],
    ["Hôm qua tôi ăn gì?", "vi"],
    ["Что она сказала?", "ru"],
    ["Що вона сказала, її слова?", "uk"],
    ["ماذا قالت؟", "ar"],
    ["何を言いましたか", "ja"],
    ["她说了什么", "zh"],
    ["What did 田中 say to Анна?", "en"],
    ["", "en"],
    ["🦄", "en"],
  ] as const)("%s → %s", (text, language) => {
    expect(languageOf(text)).toBe(language);
  });
});
