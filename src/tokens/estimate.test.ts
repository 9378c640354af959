import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { tokensAtMost } from "./bound.js";
import { Counters } from "./counters.js";
import { estimatedHead, estimateTokens } from "./estimate.js";

const WRITTEN = {
  English: "Ada moved to Lisbon in May 2026; she works for a small company (three people) and can't stand mornings. ",
  code: 'const found = await session.query("where?", { topK: 10 }); // best first\n  if (found.length > 0) return;\n',
  JSON: '{"id":"0198c5b2-7c4e-7a51-9f3b-2f4f4f6c1d0e","occurredAt":1763300000000,"content":"moved"},',
  Chinese: "我上个月搬到了里斯本，现在在一家小公司工作。你知道附近有什么好吃的餐厅吗？",
  Japanese: "先週、東京から大阪に引っ越しました。新しい仕事は楽しいです。",
  Arabic: "انتقلت إلى لشبونة في مايو الماضي وأعمل الآن في شركة صغيرة ",
  Russian: "Я переехал в Лиссабон в мае и теперь работаю в маленькой компании. ",
  Hindi: "मैं मई में लिस्बन चला गया और अब एक छोटी कंपनी में काम करता हूँ। ",
  German: "Donaudampfschifffahrtsgesellschaftskapitän, Rechtsschutzversicherungsgesellschaften; ",
  Amharic: "በግንቦት ወር ወደ ሊዝበን ተዛወርኩ እና አሁን በትንሽ ኩባንያ ውስጥ እሰራለሁ። ",
  Tibetan: "ང་ཟླ་བ་ལྔ་པར་ལིས་བོན་ལ་སྤོས་པ་ཡིན། ",
  Cherokee: "ᎠᏂᏴᏫ ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ ᎤᎾᎵᎢ ",
  emoji: "🎉👨‍👩‍👧‍👦🏳️‍🌈😀🚀",
  signs: '!@#$%^&*()[]{};:",.<>/?\\|`~-_=+',
};

describe("an estimate of tokens", () => {
  it.each(Object.entries(WRITTEN))("is not below what a model counts, nor two and a half times that: %s", (_, text) => {
    const long = text.repeat(20);
    const real = encode(long).length;
    expect(estimateTokens(long)).toBeGreaterThanOrEqual(real);
    expect(estimateTokens(long)).toBeLessThan(real * 2.5);
  });

  it("is never more than the number of bytes", () => {
    for (const text of Object.values(WRITTEN)) expect(estimateTokens(text)).toBeLessThanOrEqual(tokensAtMost(text));
  });

  it("counts for a context under the name `estimate`, without a vocabulary", async () => {
    const { English, Cherokee } = WRITTEN;
    const counter = new Counters().of("estimate");
    expect(await counter.count([English, Cherokee])).toEqual([estimateTokens(English), estimateTokens(Cherokee)]);
  });

  it("of an empty text is 0", () => {
    expect(estimateTokens("")).toBe(0);
  });

  it("cuts a head that fits, while one more grapheme would not", () => {
    for (const text of Object.values(WRITTEN)) {
      const end = estimatedHead(text, 7);
      expect(estimateTokens(text.slice(0, end))).toBeLessThanOrEqual(7);
      expect(end).toBeGreaterThan(0);
      expect(end).toBeLessThan(text.length);
    }
    expect(estimatedHead("short", 7)).toBe(5);
    expect(estimatedHead("any", 0)).toBe(0);
  });

  it("cuts between graphemes", () => {
    const family = "👨‍👩‍👧‍👦";
    expect(estimatedHead(`ab ${family}`, 4)).toBe(3);
  });
});
