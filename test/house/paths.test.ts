/** How many files a reader has to open to follow a question and a message. Later work may not raise the limits. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Child } from "../support/child.js";
import { newPath } from "../support/opened.js";
import { root } from "../support/root.js";
import type { Covered } from "./covered.js";

const QUERY_MAX = 45;
const ADD_MAX = 40;
/** Text analysis and the embedding runtime are libraries of their own. */
const isPath = (file: string): boolean => !/^(retrieval\/words|embedding)\//.test(file);

const folder = mkdtempSync(join(root, "build/unbundled-"));
let covered: Covered | undefined;

beforeAll(async () => {
  cpSync(join(root, "dist"), folder, { recursive: true });
  const thread = join(folder, "stores/sqlite/thread.js");
  writeFileSync(thread, readFileSync(thread, "utf8").replace('"./worker.cjs"', '"./worker.js"'));
  const child = new Child<string, Covered>(new URL("./covered.js", import.meta.url), [folder, newPath()], (files) => {
    covered = files;
  });
  const { stderr } = await child.ended;
  expect(covered, stderr).toBeDefined();
});

afterAll(() => rmSync(folder, { recursive: true }));

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
