import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { ExportFile } from "./export-file.js";

const folder = mkdtempSync(join(tmpdir(), "holdfast-export-"));
afterAll(() => rmSync(folder, { recursive: true }));
let count = 0;
const newPath = (): string => join(folder, `${++count}.jsonl`);

const HEADER = '{"type":"holdfast","version":1}';
const ITEM = `{"type":"item","content":"${"ü".repeat(700_000)}"}`; // longer than one read
const cursorLine = (cursor: string): string => `{"type":"cursor","cursor":"${cursor}"}`;

it("is made for its owner only, and never over another file", () => {
  const path = newPath();
  const file = new ExportFile(path, false);
  file.write(HEADER);
  file.write(ITEM);
  file.close();
  expect(readFileSync(path, "utf8")).toBe(`${HEADER}\n${ITEM}\n`);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(() => new ExportFile(path, false)).toThrow("already exists");
});

it("continues after its last cursor, and discards a partial rest", () => {
  const path = newPath();
  const whole = [HEADER, ITEM, cursorLine("one"), ITEM, ITEM, cursorLine("two-2"), ITEM].join("\n");
  const kept = whole.indexOf(cursorLine("two-2")) + cursorLine("two-2").length;
  for (const end of [kept + 1, kept + 5, whole.length]) {
    writeFileSync(path, whole.slice(0, end));
    const file = new ExportFile(path, true);
    expect(file.cursor).toBe("two-2");
    file.write('{"type":"end"}');
    file.close();
    expect(readFileSync(path, "utf8")).toBe(`${whole.slice(0, kept)}\n{"type":"end"}\n`);
  }
});

it("starts over if it has no cursor yet, or only a part of one", () => {
  for (const text of ["", HEADER, `${HEADER}\n${cursorLine("one")}`]) {
    const path = newPath();
    writeFileSync(path, text);
    const file = new ExportFile(path, true);
    expect(file.cursor).toBeUndefined();
    file.close();
    expect(readFileSync(path, "utf8")).toBe("");
  }
});

it("does not touch a whole export, nor what is not there", () => {
  const path = newPath();
  writeFileSync(path, `${HEADER}\n${cursorLine("one")}\n{"type":"end","counts":{}}\n`);
  expect(() => new ExportFile(path, true)).toThrow("is already complete");
  expect(readFileSync(path, "utf8")).toContain('"end"');
  expect(() => new ExportFile(newPath(), true)).toThrow("ENOENT");
});
