/** The ten lines of the README, each time in a fresh process, with the model that ships, and with no sleep. */
import { describe, expect, it } from "vitest";
import { Child } from "../support/child.js";
import { newPath } from "../support/opened.js";

const QUESTIONS = {
  "where does she live?": "I moved to Lisbon in May.",
  "what musical instrument does her sibling know?": "My brother plays the violin in an orchestra.",
  "which bill do we owe money for?": "The invoice over 300 euros is still not paid.",
};

interface Told {
  readonly question: keyof typeof QUESTIONS;
  readonly first: string;
  readonly partial: boolean;
  readonly degraded?: string;
}

async function told(path: string, what: "add" | "ask"): Promise<readonly Told[]> {
  const reports: Told[] = [];
  const module = new URL("./ten-lines-process.js", import.meta.url);
  const child = new Child<never, Told>(module, [path, what, ...Object.keys(QUESTIONS)], (one) => reports.push(one));
  expect(await child.ended).toMatchObject({ code: 0, stderr: "" });
  return reports;
}

describe("the ten lines", () => {
  it("find what was just said by its meaning, in a fresh process, and in the next one", async () => {
    const path = newPath();
    const right = Object.entries(QUESTIONS).map(([question, first]) => ({ question, first, partial: false }));
    expect(await told(path, "add")).toEqual(right);
    expect(await told(path, "ask")).toEqual(right);
  });
});
