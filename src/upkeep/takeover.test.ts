import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { placeFile } from "./takeover.js";

// Windows cannot sync folders.
it.runIf(process.platform !== "win32")("a power cut never leaves an old log beside a restored file", async () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-takeover-"));
  const [target, part] = [join(folder, "memory.db"), join(folder, "memory.db.part")];
  writeFileSync(part, "restored");
  writeFileSync(`${target}-wal`, "the log of a file that is gone");
  const handle = await open(folder);
  const prototype = Object.getPrototypeOf(handle) as typeof handle;
  await handle.close();
  const seen: { readonly log: boolean; readonly file: boolean }[] = [];
  const spy = vi.spyOn(prototype, "sync").mockImplementation(async () => {
    seen.push({ log: existsSync(`${target}-wal`), file: existsSync(target) });
  });
  try {
    await placeFile(part, target, false);
    expect(seen).toEqual([
      { log: false, file: false },
      { log: false, file: true },
    ]);
  } finally {
    spy.mockRestore();
    rmSync(folder, { recursive: true });
  }
});
