/** How many files a reader has to open to follow a question and a message. Later work may not raise the limits. */
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { Child } from "../support/child.js";
import { newPath } from "../support/opened.js";
import { root } from "../support/root.js";
import type { Covered } from "./covered.js";

const QUERY_MAX = 45;
const ADD_MAX = 40;
/** Text analysis and the embedding runtime are libraries of their own. */
const isPath = (file: string): boolean => !/^(retrieval\/words|embedding)\//.test(file);

/** The modules one by one; the published package is a bundle. */
const folder = join(root, "build/lib");
let covered: Covered | undefined;

beforeAll(async () => {
  const child = new Child<string, Covered>(new URL("./covered.js", import.meta.url), [folder, newPath()], (files) => {
    covered = files;
  });
  const { stderr } = await child.ended;
  expect(covered, stderr).toBeDefined();
});

describe("the source files that run, in all threads together", () => {
  it(`are at most ${QUERY_MAX} during one cold question`, () => {
    const files = covered?.query.filter(isPath) ?? [];
    expect(files).toContain("service.ts");
    expect(files, "the search thread").toContain("stores/sqlite/search/searcher.ts");
    expect(files.length, files.join("\n")).toBeLessThanOrEqual(QUERY_MAX);
  });

  it(`are at most ${ADD_MAX} during one add`, () => {
    const files = covered?.add.filter(isPath) ?? [];
    expect(files).toContain("service.ts");
    expect(files, "the writer's thread").toContain("stores/sqlite/writer.ts");
    expect(files.length, files.join("\n")).toBeLessThanOrEqual(ADD_MAX);
  });
});
