import { describe, expect, it } from "vitest";
import { refersBack } from "./refers-back.js";

describe("refersBack", () => {
  it.each([
    "Can you remind me which museum had the whale?",
    "Which museum was it that you recommended?",
    "You’ve previously mentioned a good baker. Who was it?",
    "What did you suggest for my knee?",
    "In our last conversation there was a recipe with lentils. What else was in it?",
    "What was the third step in your previous answer?",
    "What was the name of the tool we talked about?",
    "Erinnere mich bitte: welches Museum war das?",
    "Welches Buch hast du mir damals für den Urlaub empfohlen?",
    "Quel livre est-ce que tu m'as recommandé ?",
    "¿Qué libro me recomendaste?",
    "Qual livro você me recomendou?",
    "Quale libro mi hai consigliato?",
    "Какую книгу ты мне советовал?",
    "你上次推荐的那本书叫什么？",
    "前に教えてくれた本は何ですか",
  ])("is true of: %s", (text) => {
    expect(refersBack(text)).toBe(true);
  });

  it.each([
    "Where did I buy my bicycle?",
    "What would you recommend for dinner?",
    "Can you suggest a museum?",
    "Remind me to call the baker.",
    "I told you about my knee. Which one was it?",
    "What did I say about the last session of the course?",
    "Do you have any advice?",
    "Was habe ich gestern gesagt?",
    "你有什么建议吗？",
    "",
    "🦄",
  ])("is false of: %s", (text) => {
    expect(refersBack(text)).toBe(false);
  });

  it("reads only the beginning of a long text", () => {
    expect(refersBack(`Can you remind me of this? ${"x ".repeat(32_000)}`)).toBe(true);
    expect(refersBack(`${"x ".repeat(32_000)} Can you remind me of this?`)).toBe(false);
  });
});
