/** Every text has a vector, and a token count within the limits. */
import { expect } from "vitest";
import type { CheckEmbedder } from "../embedder-conformance.js";
import { expectSame, expectVector } from "./vector.js";

const TEXTS: readonly (readonly [string, string])[] = [
  ["nothing", ""],
  ["a blank", " "],
  ["white space only", "\n\t \u00A0\u2003\r\n"],
  ["punctuation only", "…?! -- *"],
  ["an emoji of several code points", "family 👩‍👩‍👧‍👦, flag 🏴󠁧󠁢󠁳󠁣󠁴󠁿, thumb 👍🏽"],
  ["nothing but an emoji", "🤷🏽‍♀️"],
  ["right to left", "שלום עולם \u202Eاليمين إلى اليسار\u202C end"],
  ["Chinese, Japanese and Korean", "我搬到了里斯本。東京へ引っ越した。서울에 살아요"],
  ["Thai and Hindi", "ฉันย้ายไปลิสบอน मैं लिस्बन चला गया"],
  ["combining marks", "Zoe\u0308 cafe\u0301 Z\u0351\u036B\u0343a\u0334\u0321lgo\u0330\u0300"],
  ["letters beyond the basic plane", "𝓛𝓲𝓼𝓫𝓸𝓷 𐍈 𠮷野家"],
  ["zero-width and invisible ones", "a\u200Bb\u200Dc\uFEFFd\u00ADe\u2060f"],
  ["NUL and control characters", "a\u0000b bell\u0007 escape\u001B[31m delete\u007F"],
  ["a lone high surrogate", "broken \uD83D here"],
  ["a lone low surrogate", "\uDE00"],
  ["the replacement character and non-characters", "\uFFFD \uFFFE \uFFFF \u{10FFFF}"],
  ["the special tokens of models", "[CLS] [SEP] [MASK] [PAD] [UNK] <s> </s> <|endoftext|>"],
  ["one word of 300 letters", "x".repeat(300)],
];

export function texts(check: CheckEmbedder): void {
  for (const [what, text] of TEXTS) {
    check(`embeds ${what}`, async ({ embedder }) => {
      const { space, tokensMax } = await embedder.describe();
      const [tokens = Number.NaN] = await embedder.countTokens([text]);
      expect(Number.isInteger(tokens) && tokens >= 0 && tokens <= tokensMax).toBe(true);
      const [vector] = await embedder.embed([text]);
      expectVector(vector, space.dimensions);
      expectSame(await embedder.embed(["something else", text]).then((given) => given.slice(1)), [vector]);
    });
  }
}
