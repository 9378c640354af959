import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { partFileOf, removeStaleParts } from "./part-file.js";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-part-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("an unfinished file", () => {
  it("is beside its target, under a unique name", () => {
    const target = join(folder, "backup.db");
    expect(partFileOf(target)).toMatch(/backup\.db\..+\.part$/);
    expect(partFileOf(target)).not.toBe(partFileOf(target));
  });

  it("is removed when its process is gone; those of the living, of other machines and of other targets stay", () => {
    const target = join(folder, "backup.db");
    const own = partFileOf(target);
    const { pid } = spawnSync(process.execPath, ["-e", ""]);
    const dead = own.replace(/-\d+-\d*-/, `-${pid}--`);
    const elsewhere = dead.replace(/\.[0-9a-f]{8}-/, ".00000000-");
    const others = `${join(folder, "other.db")}${dead.slice(target.length)}`;
    for (const file of [own, dead, `${dead}-journal`, elsewhere, others, `${target}.mine.part`])
      writeFileSync(file, "");
    removeStaleParts(target);
    const left = [own, elsewhere, others, `${target}.mine.part`].map((file) => basename(file));
    expect(readdirSync(folder).sort()).toEqual(left.sort());
  });
});
