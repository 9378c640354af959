import { expect, test } from "vitest";
import { analyse } from "./analyse.js";

const terms = (text: string) => [...analyse(text).keys()];

test.each([
  ["Thai", "ฉันทำงานที่กรุงเทพมหานคร", ["ฉัน", "ทำงาน", "ที่", "กรุงเทพมหานคร"]],
  ["Lao", "ຂ້ອຍເຮັດວຽກ", ["ຂ້ອຍ", "ເຮັດວຽກ"]],
  ["Khmer", "ខ្ញុំធ្វើការ", ["ខ្ញុំ", "ធ្វើការ"]],
])("%s is read by words", (_, text, words) => {
  expect(terms(text)).toEqual(words.map((word) => word.normalize("NFC")));
  expect(terms(text.normalize("NFD"))).toEqual(terms(text));
});

test("Burmese is segmented into words", () => {
  expect(terms("ရန်ကုန်မှာ အလုပ်လုပ်တယ်").length).toBeGreaterThan(3);
});

test("a run ends where another script begins", () => {
  expect(terms("ก a")).toEqual(["ก", "a"]);
  expect(terms("กa")).toEqual(["ก", "a"]);
  expect(terms("น้ำ3ขวดWater")).toEqual(["น้ำ", "3", "ขวด", "water"]);
});

test("a run of many windows has the same words as a short one", () => {
  const sentence = "ฉันทำงานที่กรุงเทพมหานคร";
  const counts = analyse(sentence.repeat(500));
  expect([...counts.keys()].sort()).toEqual(terms(sentence).sort());
  for (const count of counts.values()) expect(count).toBe(500);
});
