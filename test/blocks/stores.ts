/** One memory for all tests of a suite, and a space of its own for each. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Memory, openMemory, type Session } from "holdfast";
import { afterAll, beforeAll } from "vitest";

/** A file for all tests of a suite. */
export function suitePath(): string {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-test-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "memory.db");
}

/** One memory for all tests of a suite. */
export function memoryAt(path: string): () => Memory {
  let memory: Memory | undefined;
  beforeAll(async () => {
    memory = await openMemory({ path });
  });
  afterAll(async () => void (await memory?.close()));
  return () => {
    if (!memory) throw new Error("the memory is not open");
    return memory;
  };
}

/** Each call returns the session of another user, whose space is empty. */
export function sessionsOf(memory: () => Memory): () => Session {
  let users = 0;
  return () => memory().session({ user: `user ${++users}`, agent: "tutor", session: "s" });
}

export const sessionsAt = (path: string): (() => Session) => sessionsOf(memoryAt(path));
