/** Memories on files of their own, closed and deleted after each test. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Memory, type OpenOptions, openMemory } from "holdfast";
import { HashEmbedder } from "holdfast/testing";
import { afterAll, afterEach } from "vitest";
import { openRaw } from "./raw.js";

const folders: string[] = [];
const memories: Memory[] = [];

// The thread that counts tokens goes with its last user. Loading its vocabulary takes longer than most tests, so all memories
// of a test file share one.
const counting = await openMemory({ path: ":memory:", embedder: new HashEmbedder() });
afterAll(() => counting.close());

afterEach(async () => {
  for (const memory of memories.splice(0)) await memory.close().catch(() => undefined); // a test may have broken it
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-test-"));
  folders.push(folder);
  return folder;
}

export const newPath = (): string => join(newFolder(), "memory.db");

export async function open(options: OpenOptions): Promise<Memory> {
  const memory = await openMemory(options);
  memories.push(memory);
  return memory;
}

/** Runs one script on the file, behind Holdfast's back. */
export function alter(path: string, sql: string): void {
  const database = openRaw(path);
  database.exec(sql);
  database.close();
}
