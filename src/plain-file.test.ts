import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire, syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { notAFile } from "./plain-file.js";

/** The mutable module: what is set here, importers see after `syncBuiltinESMExports`. */
const fs = createRequire(import.meta.url)("node:fs") as { statSync: unknown };

const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-plain-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
};

it("a link to nothing is refused, and a path at which nothing is may be used", () => {
  const folder = newFolder();
  symlinkSync(join(folder, "absent"), join(folder, "link"));
  expect(notAFile(join(folder, "link"))).toBe("is a link to a file that does not exist");
  expect(notAFile(join(folder, "absent"))).toBeUndefined();
});

it("a file that another process creates between two looks is no link", () => {
  const path = join(newFolder(), "memory.db-wal");
  const { statSync } = fs;
  onTestFinished(() => {
    fs.statSync = statSync;
    syncBuiltinESMExports();
  });
  fs.statSync = () => {
    writeFileSync(path, "");
    return undefined;
  };
  syncBuiltinESMExports();
  expect(notAFile(path)).toBeUndefined();
});
