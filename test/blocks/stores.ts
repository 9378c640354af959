/** Where blocks are kept: the suites run on both, and each opens a memory once. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Memory, openMemory, type Session } from "holdfast";
import { afterAll, beforeAll } from "vitest";
import { newPath } from "../support/opened.js";

export const STORES = [
  { store: "a file", isFile: true },
  { store: "memory", isFile: false },
] as const;

export const pathIn = (isFile: boolean): string => (isFile ? newPath() : ":memory:");

/** A file for all tests of a suite. */
export function suitePath(): string {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-test-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "memory.db");
}

/** One memory for all tests of a suite. */
export function memoryIn(isFile: boolean): () => Memory {
  const path = isFile ? suitePath() : ":memory:";
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

/** Each call gives the session of another user, whose space is empty. */
export function sessionsOf(memory: () => Memory): () => Session {
  let users = 0;
  return () => memory().session({ user: `user ${++users}`, agent: "tutor", session: "s" });
}

export const sessionsIn = (isFile: boolean): (() => Session) => sessionsOf(memoryIn(isFile));
