import {
  chmodSync,
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
const MODES = { made: 0o600, isSecret: false };
const SECRET = { made: 0o644, isSecret: true };
const modeOf = (path: string): number => statSync(path).mode & 0o777;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-config-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

it("a file that is not there is made, and its folder", () => {
  const path = join(folder, "a", "b", "c.json");
  const file = new ConfigFile(path);
  expect(file).toMatchObject({ text: "", exists: false });
  expect(file.replace("new", MODES, NOW)).toEqual({ backup: undefined, isTightened: false });
  expect(readFileSync(path, "utf8")).toBe("new");
  expect(modeOf(path)).toBe(0o600);
  expect(readdirSync(join(folder, "a", "b"))).toEqual(["c.json"]);
});

it("a file that is there is kept as a backup, byte for byte, and its mode stays", () => {
  const path = join(folder, "c.json");
  writeFileSync(path, "\uFEFFold\r\n", { mode: 0o640 });
  const file = new ConfigFile(path);
  expect(file).toMatchObject({ text: "old\r\n", exists: true });
  expect(file.replace("new", MODES, NOW)).toEqual({ backup: path + BACKUP, isTightened: false });
  expect(readFileSync(path, "utf8")).toBe("\uFEFFnew");
  expect(readFileSync(path + BACKUP, "utf8")).toBe("\uFEFFold\r\n");
  for (const one of [path, path + BACKUP]) expect(modeOf(one)).toBe(0o640);
  expect(readdirSync(folder).sort()).toEqual(["c.json", `c.json${BACKUP}`]);
});

it("a link stays a link, also if what it points to is not there yet", () => {
  mkdirSync(join(folder, "dotfiles"));
  writeFileSync(join(folder, "dotfiles", "c.json"), "old");
  symlinkSync(join("dotfiles", "c.json"), join(folder, "link"));
  symlinkSync("link", join(folder, "link to link"));
  symlinkSync(join("dotfiles", "new.json"), join(folder, "loose"));
  const through = (name: string, text: string) => new ConfigFile(join(folder, name)).replace(text, MODES, NOW).backup;
  expect(through("link to link", "new")).toContain("link to link.holdfast");
  expect(through("loose", "made")).toBeUndefined();
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
    expect(() => one.replace("ours", MODES, NOW)).toThrow(expect.objectContaining({ code: "busy" }));
    expect(readFileSync(one.path, "utf8")).toBe("theirs");
  }
  expect(readdirSync(folder).sort()).toEqual(["c.json", "d.json"]);
});

it("a file that is not UTF-8 is refused", () => {
  const path = join(folder, "c.json");
  writeFileSync(path, Buffer.from('{"a": "é"}', "latin1"));
  expect(() => new ConfigFile(path)).toThrow(expect.objectContaining({ code: "config" }));
});

it("a key does not stay in a file that everybody reads, nor in its backup", () => {
  const path = join(folder, "c.json");
  const loosen = (mode: number): void => chmodSync(path, mode);
  expect(new ConfigFile(path).replace("made", SECRET, NOW)).toEqual({ backup: undefined, isTightened: false });
  expect(modeOf(path)).toBe(0o600);
  for (const [old, mode] of [
    [0o644, 0o600],
    [0o660, 0o600],
    [0o600, 0o600],
    [0o700, 0o700],
  ] as const) {
    loosen(old);
    expect(new ConfigFile(path).replace("next", SECRET, NOW)).toEqual({
      backup: path + BACKUP,
      isTightened: old !== mode,
    });
    expect([modeOf(path), modeOf(path + BACKUP)]).toEqual([mode, mode]);
    rmSync(path + BACKUP);
  }
});

it("backups do not pile up: the newest five stay, and what only looks like one is not touched", () => {
  const path = join(folder, "c.json");
  const lookalikes = ["c.json.holdfast-backup-mine", "d.json.holdfast-backup-20200101T000000.000Z", `xc.json${BACKUP}`];
  for (const name of lookalikes) writeFileSync(join(folder, name), "mine");
  mkdirSync(join(folder, "c.json.holdfast-backup-20200101T000000.000Z"));
  const at = (second: number): Date => new Date(NOW.getTime() + 1000 * second);
  writeFileSync(path, "0");
  for (let n = 1; n <= 7; n++) new ConfigFile(path).replace(String(n), MODES, at(n));
  const left = (): string[] =>
    readdirSync(folder, { withFileTypes: true })
      .filter((one) => one.isFile() && one.name.startsWith("c.json.holdfast-backup-2"))
      .map(({ name }) => readFileSync(join(folder, name), "utf8"))
      .sort();
  expect(left()).toEqual(["2", "3", "4", "5", "6"]);
  for (const name of lookalikes) expect(readFileSync(join(folder, name), "utf8")).toBe("mine");
  expect(readdirSync(folder)).toContain("c.json.holdfast-backup-20200101T000000.000Z");
  // The clock was set back: the latest backup must not be the one that is removed.
  new ConfigFile(path).replace("8", MODES, at(-9));
  expect(left()).toEqual(["3", "4", "5", "6", "7"]);
});
