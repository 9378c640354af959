import { describe, expect, it } from "vitest";
import { namesIn, speakerIn } from "./speakers.js";

describe("namesIn", () => {
  it("lists runs of up to three words that may be names, without the possessive", () => {
    const names = namesIn("When did Ann Lee's brother meet Ana de Armas?");
    expect(names).toEqual(expect.arrayContaining(["Ann", "Lee", "Ann Lee", "Ana", "Armas", "Ana de Armas"]));
    expect(names).not.toContain("brother");
  });

  it("does not run across a comma", () => {
    expect(namesIn("Did Ann, Bob or Cid call?")).not.toContain("Ann, Bob");
    expect(namesIn("Did Ann Bob call?")).toContain("Ann Bob");
  });

  it("takes every word of a question without capitals", () => {
    expect(namesIn("what did ann say?")).toEqual(expect.arrayContaining(["ann", "say", "did ann say"]));
  });

  it("leaves out words that are never names", () => {
    expect(namesIn("What did I say to Ann?")).toEqual(["Ann"]);
    expect(namesIn("Will Will May come?")).toEqual(expect.arrayContaining(["Will", "May", "Will May"]));
    expect(namesIn("Who is The Doctor?")).toContain("The Doctor");
  });

  it("finds names in scripts without spaces and without capitals", () => {
    expect(namesIn("田中さんは何を買いましたか")).toContain("田中");
    expect(namesIn("ماذا قالت ليلى")).toContain("ليلى");
    expect(namesIn("Что сказала Анна?")).toContain("Анна");
  });

  it("lists each name once, and at most 40", () => {
    expect(namesIn("Ann and Ann")).toEqual(["Ann", "Ann and Ann"]);
    const many = Array.from({ length: 200 }, (_, at) => `N${at}`).join(" ");
    expect(namesIn(many)).toHaveLength(40);
    expect(namesIn("")).toEqual([]);
    expect(namesIn("😀 … !!")).toEqual([]);
  });
});

describe("speakerIn", () => {
  it("finds the one speaker who is named", () => {
    expect(speakerIn("When did Ann go?", ["Ann", "Bob"])).toBe("Ann");
    expect(speakerIn("What is Ann’s dog called?", ["Ann", "Bob"])).toBe("Ann");
    expect(speakerIn("What is James' dog called?", ["James"])).toBe("James");
    expect(speakerIn("Did Ann say what Ann likes?", ["Ann"])).toBe("Ann");
    expect(speakerIn("田中さんは何を買いましたか", ["田中", "鈴木"])).toBe("田中");
  });

  it("finds none if there is no speaker, or several", () => {
    expect(speakerIn("When did she go?", ["Ann", "Bob"])).toBeUndefined();
    expect(speakerIn("When did Ann meet Bob?", ["Ann", "Bob"])).toBeUndefined();
    expect(speakerIn("Where is Annapolis?", ["Ann"])).toBeUndefined();
    expect(speakerIn("When did Ann go?", [])).toBeUndefined();
    expect(speakerIn("When did Ann go?", ["", " "])).toBeUndefined();
  });

  it("takes the longer of two overlapping names, and both if they do not overlap", () => {
    expect(speakerIn("When did Ann Lee go?", ["Ann", "Ann Lee", "Lee"])).toBe("Ann Lee");
    expect(speakerIn("When did Ann Lee meet Ann?", ["Ann", "Ann Lee"])).toBeUndefined();
  });

  it("is case-sensitive, unless the question has no capitals", () => {
    expect(speakerIn("When will she go to the rose garden?", ["Will", "Rose"])).toBeUndefined();
    expect(speakerIn("When will Rose go?", ["Will", "Rose"])).toBe("Rose");
    expect(speakerIn("what did ann say?", ["Ann"])).toBe("Ann");
    expect(speakerIn("when will she go?", ["Will"])).toBeUndefined();
  });

  it("takes names literally", () => {
    expect(speakerIn("When did A.J. (Al) go?", ["A.J. (Al)"])).toBe("A.J. (Al)");
    expect(speakerIn("When did AxJ go?", ["A.J"])).toBeUndefined();
  });
});
