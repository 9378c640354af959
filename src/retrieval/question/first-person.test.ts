import { describe, expect, it } from "vitest";
import { firstPerson } from "./first-person.js";

describe("firstPerson", () => {
  it.each([
    ["When did Ann go to Rome?", "When did I go to Rome?"],
    ["What is Ann's dog called?", "What is my dog called?"],
    ["What is Ann’s dog called?", "What is my dog called?"],
    ["Who gave the book to Ann?", "Who gave the book to me?"],
    ["Who called Ann?", "Who called me?"],
    ["What did she give Ann for Christmas?", "What did she give me for Christmas?"],
    ["Which book that Ann read was long?", "Which book that I read was long?"],
    ["Does Ann like tea?", "Do I like tea?"],
    ["How old is Ann?", "How old am I?"],
    ["What has Ann baked?", "What have I baked?"],
    ["What does Ann say Ann's cat eats?", "What do I say my cat eats?"],
  ])("%s", (question, spoken) => {
    expect(firstPerson(question, "Ann")).toBe(`Ann: ${spoken}`);
  });

  it("keeps other words that begin like the name", () => {
    expect(firstPerson("When did Ann visit Annapolis?", "Ann")).toBe("Ann: When did I visit Annapolis?");
  });

  it("only puts the name in front if the question is not English or does not contain it", () => {
    expect(firstPerson("Wann ist Ann nach Rom gefahren, und mit wem war das?", "Ann")).toBe(
      "Ann: Wann ist Ann nach Rom gefahren, und mit wem war das?",
    );
    expect(firstPerson("When did she go?", "Ann")).toBe("Ann: When did she go?");
  });

  it("takes dollar signs in names and texts literally", () => {
    expect(firstPerson("What did A$AP pay, $& or $1?", "A$AP")).toBe("A$AP: What did I pay, $& or $1?");
  });
});
