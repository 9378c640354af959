import { describe, expect, it } from "vitest";
import { datesIn } from "./dates.js";

/** A Thursday. */
const ASKED = Date.parse("2024-08-15T10:30:00Z");

/** The ranges as "from…to" by day, the second day excluded; "now" is the time of asking. */
function rangesOf(text: string, askedAt = ASKED, timeZone?: string): string[] {
  const day = (time: number): string => (time === askedAt ? "now" : new Date(time).toISOString().slice(0, 10));
  return datesIn(text, askedAt, timeZone).ranges.map(({ from, to }) => `${day(from)}…${day(to)}`);
}

describe("dates with a year", () => {
  it.each([
    ["Where was I on 7 May 2023?", ["2023-05-07…2023-05-08"]],
    ["Where was I on May 7th, 2023?", ["2023-05-07…2023-05-08"]],
    ["What is in the log of 2023-05-07?", ["2023-05-07…2023-05-08"]],
    ["What did I plant in May 2023?", ["2023-05-01…2023-06-01"]],
    ["What did I plant in the beginning of May 2023?", ["2023-05-01…2023-06-01"]],
    ["Which trips did I take in 2022?", ["2022-01-01…2023-01-01"]],
    ["Which trips did I take in the summer of 2022?", ["2022-01-01…2023-01-01"]],
    ["What did I read from June to August 2022?", ["2022-06-01…2022-09-01"]],
    ["What did I read between June and August 2022?", ["2022-06-01…2022-09-01"]],
    [
      "What did I read in June, July and September 2022?",
      ["2022-06-01…2022-07-01", "2022-07-01…2022-08-01", "2022-09-01…2022-10-01"],
    ],
    ["Where did I live from 2019 to 2021?", ["2019-01-01…2022-01-01"]],
    ["Where did I live in 2019 and 2021?", ["2019-01-01…2020-01-01", "2021-01-01…2022-01-01"]],
  ])("%s", (text, ranges) => {
    expect(rangesOf(text)).toEqual(ranges);
    expect(datesIn(text, ASKED).isRelative).toBe(false);
  });

  it("reads a numeric date both ways, because countries differ", () => {
    expect(rangesOf("Who called on 03/07/2023?")).toEqual(["2023-03-07…2023-03-08", "2023-07-03…2023-07-04"]);
    expect(rangesOf("Who called on 03/27/2023?")).toEqual(["2023-03-27…2023-03-28"]);
  });

  it("lets a date take precedence over expressions that are relative to it", () => {
    expect(rangesOf("What had I begun last week, as I said on 3 June 2023?")).toEqual(["2023-06-03…2023-06-04"]);
    expect(rangesOf("Whom did I meet on the Sunday before October 25, 2022?")).toEqual(["2022-10-25…2022-10-26"]);
  });
});

describe("dates that depend on the time of asking", () => {
  it.each([
    ["Where was I on 7 May?", ["2024-05-07…2024-05-08"]],
    ["Where was I on 7 November?", ["2023-11-07…2023-11-08"]],
    ["What did I plant in May?", ["2024-05-01…2024-06-01"]],
    ["What did I plant in late may?", ["2024-05-01…2024-06-01"]],
    ["What did I plant in November?", ["2023-11-01…2023-12-01"]],
    ["What did I plant in March and April?", ["2024-03-01…2024-04-01", "2024-04-01…2024-05-01"]],
    ["What did I plant between November and February?", ["2023-11-01…2024-03-01"]],
    ["What did I read between August and October?", ["2023-08-01…2023-11-01"]],
    ["What did I plant in May last year?", ["2023-05-01…2023-06-01"]],
    ["What did I do between 5 May and 9 May?", ["2024-05-05…2024-05-10"]],
    ["What did I cook yesterday?", ["2024-08-14…2024-08-15"]],
    ["What did I dream last night?", ["2024-08-14…2024-08-15"]],
    ["What did I buy four weeks ago?", ["2024-07-18…2024-07-19"]],
    ["What did I buy 10 days ago?", ["2024-08-05…2024-08-06"]],
    ["What did I buy a couple of days ago?", ["2024-08-13…2024-08-14"]],
    ["What did I buy three months ago?", ["2024-04-30…2024-05-31"]],
    ["Whom did I meet last Saturday?", ["2024-08-10…2024-08-11"]],
    ["Whom did I meet on Monday?", ["2024-08-12…2024-08-13"]],
    ["Whom did I meet last weekend?", ["2024-08-10…2024-08-12"]],
    ["What did I learn last week?", ["2024-08-05…2024-08-12"]],
    ["What did I learn this week?", ["2024-08-12…2024-08-19"]],
    ["What did I learn last month?", ["2024-07-01…2024-08-01"]],
    ["What did I learn last year?", ["2023-01-01…2024-01-01"]],
    ["What did I learn this year?", ["2024-01-01…2025-01-01"]],
    ["What did I learn in the past month?", ["2024-07-15…now"]],
    ["What did I learn in the last week?", ["2024-08-08…now"]],
    ["What did I learn in the past two months?", ["2024-06-15…now"]],
    ["What did I learn in the last few weeks?", ["2024-07-25…now"]],
    ["What have I learned since March?", ["2024-03-01…now"]],
    ["What have I learned since 2022?", ["2022-01-01…now"]],
    ["What have I learned since last Monday?", ["2024-08-12…now"]],
    ["What did I do in the last week of May?", ["2024-05-01…2024-06-01"]],
  ])("%s", (text, ranges) => {
    expect(rangesOf(text)).toEqual(ranges);
    expect(datesIn(text, ASKED).isRelative).toBe(true);
  });

  it("counts days in the asker's time zone", () => {
    const lateEvening = Date.parse("2024-08-15T23:30:00Z");
    expect(datesIn("What did I cook yesterday?", lateEvening, "Asia/Tokyo").ranges).toEqual([
      { from: Date.parse("2024-08-14T15:00:00Z"), to: Date.parse("2024-08-15T15:00:00Z") },
    ]);
    expect(datesIn("What did I cook yesterday?", lateEvening).ranges).toEqual([
      { from: Date.parse("2024-08-14T00:00:00Z"), to: Date.parse("2024-08-15T00:00:00Z") },
    ]);
  });
});

describe("what is not a date", () => {
  it.each([
    "May I ask what you think?",
    "What may happen to the roof?",
    "Where do soldiers march?",
    "What did April say to June about August's party?",
    "What did May cook?",
    "Who sat in the sun?",
    "When does the shop open, at 5 pm?",
    "What are the names of the 3 dogs?",
    "How long did I wait, 2 weeks?",
    "For how long did I stay, for three months?",
    "How many days ago did I see the doctor?",
    "How many months have passed since I last saw her?",
    "Did I pack two days before I left?",
    "What should I do today?",
    "What am I doing now?",
    "What shall I do tomorrow, next week or in 5 days?",
    "Any tips for this weekend?",
    "What do I do on Monday?",
    "What time do I get up on Tuesdays and Thursdays?",
    "Who came to the Friday dinners?",
    "What changed in Python 3.12?",
    "Who gives 24/7 support?",
    "How many of the 2000 stamps are pre-1920?",
    "Who wrote 1984?",
    "What is my second wish?",
    "How old was I, 5 years old?",
    "Was it half a day ago?",
    "What was my last name?",
    "What did I do before May 2023?",
    "Which music of the 1990s do I like?",
    "",
    "😀😀😀",
  ])("%s", (text) => {
    expect(datesIn(text, ASKED)).toEqual({ ranges: [], isRelative: false });
  });
});

describe("other languages", () => {
  it.each([
    ["Was habe ich im Mai 2023 gekauft?", "2023-05-01…2023-06-01"],
    ["Was habe ich letzten Monat gekauft?", "2024-07-01…2024-08-01"],
    ["Was habe ich in den letzten zwei Monaten gelernt?", "2024-06-15…now"],
    ["Was habe ich vor vier Wochen gekauft?", "2024-07-18…2024-07-19"],
    ["Was habe ich zwischen Mai und Juli gemacht?", "2024-05-01…2024-08-01"],
    ["Qu'est-ce que j'ai acheté en mai 2023 ?", "2023-05-01…2023-06-01"],
    ["Qui ai-je vu samedi dernier ?", "2024-08-10…2024-08-11"],
    ["Où étais-je le mois dernier ?", "2024-07-01…2024-08-01"],
    ["¿Qué compré en mayo de 2023?", "2023-05-01…2023-06-01"],
    ["¿Dónde fui el sábado pasado?", "2024-08-10…2024-08-11"],
    ["O que eu fiz em maio de 2023?", "2023-05-01…2023-06-01"],
    ["Wat heb ik vorige maand gekocht?", "2024-07-01…2024-08-01"],
    ["Che cosa ho fatto il mese scorso?", "2024-07-01…2024-08-01"],
    ["Vad gjorde jag i maj 2023?", "2023-05-01…2023-06-01"],
    ["Mitä söin eilen?", "2024-08-14…2024-08-15"],
    ["Что я купил в мае 2023?", "2023-05-01…2023-06-01"],
    ["Що я купив минулого місяця?", "2024-07-01…2024-08-01"],
    ["2023年5月に何を買いましたか", "2023-05-01…2023-06-01"],
    ["５月に何を買いましたか", "2024-05-01…2024-06-01"],
    ["昨天我吃了什么", "2024-08-14…2024-08-15"],
    ["2022年我去了哪里", "2022-01-01…2023-01-01"],
    ["Tôi đã mua gì vào tháng 5 năm 2023?", "2023-05-01…2023-06-01"],
    ["¿Qué compré hace cuatro semanas?", "2024-07-18…2024-07-19"],
    ["O que eu fiz há duas semanas?", "2024-08-01…2024-08-02"],
    ["Wat heb ik 10 dagen geleden gekocht?", "2024-08-05…2024-08-06"],
    ["Che cosa ho fatto due settimane fa?", "2024-08-01…2024-08-02"],
    ["Mitä minä söin kaksi viikkoa sitten?", "2024-08-01…2024-08-02"],
    ["Что я купил две недели назад?", "2024-08-01…2024-08-02"],
    ["Що я купив два тижні тому?", "2024-08-01…2024-08-02"],
    ["Hai tuần trước tôi mua gì?", "2024-08-01…2024-08-02"],
    ["Apa yang saya beli dua minggu yang lalu?", "2024-08-01…2024-08-02"],
    ["Apa yang saya beli kemarin?", "2024-08-14…2024-08-15"],
    ["ماذا أكلت أمس؟", "2024-08-14…2024-08-15"],
    ["What did 田中 tell me last month?", "2024-07-01…2024-08-01"],
  ])("%s", (text, range) => {
    expect(rangesOf(text)).toEqual([range]);
  });

  it.each(["Was mache ich heute?", "Was ist neu in Version 3.12?", "今天做什么", "Was mache ich am Montag?"])(
    "%s",
    (text) => {
      expect(rangesOf(text)).toEqual([]);
    },
  );
});

describe("hostile questions", () => {
  it("reads only the beginning of a long one", () => {
    expect(rangesOf(`What did I buy in May 2023? ${"x ".repeat(32_000)}`)).toEqual(["2023-05-01…2023-06-01"]);
    expect(rangesOf(`${"x ".repeat(32_000)} What did I buy in May 2023?`)).toEqual([]);
  });

  it.each(["мин ", "3 хв ", "tháng 5 năm 1 ", "شهور ", "3 menit ", "3 sek ", "10 "])(
    "terminates on a text of units, on which a pattern of chrono-node takes seconds: %s",
    (unit) => {
      expect(rangesOf(unit.repeat(10_000)).length).toBeLessThanOrEqual(8);
    },
  );

  it("treats a list of dates as no date at all", () => {
    const days = Array.from({ length: 12 }, (_, at) => `${at + 1} May 2023`);
    expect(rangesOf(days.join("; "))).toEqual([]);
  });
});
