import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ConfigFile } from "./config-file.js";

const NOW = new Date("2026-11-16T12:00:00.123Z");
const BACKUP = ".holdfast-backup-20261116T120000.123Z";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-config-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

it("a file that is not there is made, and its folder", () => {
  const path = join(folder, "a", "b", "c.json");
  const file = new ConfigFile(path);
  expect(file).toMatchObject({ text: "", exists: false });
  expect(file.replace("new", 0o600, NOW)).toBeUndefined();
  expect(readFileSync(path, "utf8")).toBe("new");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(folder, "a", "b"))).toEqual(["c.json"]);
});

it("a file that is there is kept as a backup, byte for byte, and its mode stays", () => {
  const path = join(folder, "c.json");
  writeFileSync(path, "\uFEFFold\r\n", { mode: 0o640 });
  const file = new ConfigFile(path);
  expect(file).toMatchObject({ text: "old\r\n", exists: true });
  expect(file.replace("new", 0o600, NOW)).toBe(path + BACKUP);
  expect(readFileSync(path, "utf8")).toBe("\uFEFFnew");
  expect(readFileSync(path + BACKUP, "utf8")).toBe("\uFEFFold\r\n");
  for (const one of [path, path + BACKUP]) expect(statSync(one).mode & 0o777).toBe(0o640);
  expect(readdirSync(folder).sort()).toEqual(["c.json", `c.json${BACKUP}`]);
});

it("a link stays a link, also if what it points to is not there yet", () => {
  mkdirSync(join(folder, "dotfiles"));
  writeFileSync(join(folder, "dotfiles", "c.json"), "old");
  symlinkSync(join("dotfiles", "c.json"), join(folder, "link"));
  symlinkSync("link", join(folder, "link to link"));
  symlinkSync(join("dotfiles", "new.json"), join(folder, "loose"));
  expect(new ConfigFile(join(folder, "link to link")).replace("new", 0o600, NOW)).toContain("link to link.holdfast");
  expect(new ConfigFile(join(folder, "loose")).replace("made", 0o600, NOW)).toBeUndefined();
  for (const name of ["link", "link to link", "loose"])
    expect(lstatSync(join(folder, name)).isSymbolicLink()).toBe(true);
  expect(readFileSync(join(folder, "dotfiles", "c.json"), "utf8")).toBe("new");
  expect(readFileSync(join(folder, "dotfiles", "new.json"), "utf8")).toBe("made");
});

it("a file that somebody has written meanwhile is not touched, and nothing is left behind", () => {
  const path = join(folder, "c.json");
  writeFileSync(path, "old");
  const file = new ConfigFile(path);
  const made = new ConfigFile(join(folder, "d.json"));
  writeFileSync(path, "theirs");
  writeFileSync(made.path, "theirs");
  for (const one of [file, made]) {
    expect(() => one.replace("ours", 0o600, NOW)).toThrow(expect.objectContaining({ code: "busy" }));
    expect(readFileSync(one.path, "utf8")).toBe("theirs");
  }
  expect(readdirSync(folder).sort()).toEqual(["c.json", "d.json"]);
});

it("a file that is not UTF-8 is refused", () => {
  const path = join(folder, "c.json");
  writeFileSync(path, Buffer.from('{"a": "é"}', "latin1"));
  expect(() => new ConfigFile(path)).toThrow(expect.objectContaining({ code: "config" }));
});
