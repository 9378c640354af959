/** Where blocks are kept: each suite runs on both. */
import type { OpenOptions, Scope, SessionBlocks } from "holdfast";
import { newPath, open } from "../support/opened.js";

export const STORES = [
  { store: "a file", pathOf: newPath },
  { store: "memory", pathOf: (): string => ":memory:" },
] as const;

export const ADA: Scope = { user: "ada" };

/** The blocks of a new memory. */
export async function openBlocks(path: string, options: OpenOptions = {}): Promise<SessionBlocks> {
  return (await open({ path, ...options })).session(ADA).blocks;
}
