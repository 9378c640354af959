/** Files to keep, to break and to mend. */
import { readFileSync, writeFileSync } from "node:fs";
import { type Check, type CheckName, type Diagnosis, inspectFile, type Memory } from "holdfast";
import { newPath, open } from "../support/opened.js";
import { HashEmbedder } from "../support/product.js";
import { openRaw } from "../support/raw.js";

/** The checks but those of the model in the package, which takes time and is not what most tests are about. */
export const inspect = (path: string, deep = false): Promise<Diagnosis> => inspectFile({ path, deep, model: "none" });

export function checkOf({ checks }: Diagnosis, name: CheckName): Check {
  const check = checks.find((one) => one.name === name);
  if (!check) throw new Error(`${name} was not checked: ${JSON.stringify(checks)}`);
  return check;
}

/** The names of the checks that found something. */
export const faultsOf = ({ checks }: Diagnosis): readonly CheckName[] =>
  checks.filter(({ state }) => state !== "ok").map(({ name }) => name);

export const SCOPE = { user: "ada", session: "s" };

/** Three messages with vectors, on a file that nobody has open. */
export async function usedFile(): Promise<string> {
  template ??= makeTemplate();
  const path = newPath();
  writeFileSync(path, await template, { mode: 0o600 });
  return path;
}

let template: Promise<Buffer> | undefined;

/** The bytes of such a file. Others are copies: this process's own connections to it live until they are garbage. */
async function makeTemplate(): Promise<Buffer> {
  const path = newPath();
  const memory = await openHashed(path);
  await memory.session(SCOPE).add([
    { role: "user", content: "the harbour master keeps a heron" },
    { role: "assistant", content: "a heron of which colour" },
    { role: "user", content: "grey as slate" },
  ]);
  await memory.flush();
  await memory.close();
  return readFileSync(path);
}

/** Overwrites bytes in the first page of a table or an index. */
export function damage(path: string, name: string, at: number, length: number): void {
  const raw = openRaw(path);
  const page = Number(raw.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?").get(name)?.["rootpage"]);
  raw.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  raw.close();
  const bytes = readFileSync(path);
  bytes.fill(0x5a, (page - 1) * 4096 + at, (page - 1) * 4096 + at + length);
  writeFileSync(path, bytes);
}

/** Takes the words of the item at this place out of the index: at once, or by marks that a merge acts on. */
export function forgetWords(path: string, sequence: number, how: "remove" | "mark"): void {
  const raw = openRaw(path);
  const row = raw.prepare("SELECT key, space, length, words FROM item WHERE seq = ?").get(sequence) ?? {};
  const space = Number(row["space"]).toString(36);
  const tokens = String(row["words"]).replace(/\S+/g, (term) => `${space}:${term}`);
  if (how === "mark") raw.exec("INSERT INTO words (words, rank) VALUES ('secure-delete', 0)");
  raw
    .prepare("INSERT INTO words (words, rowid, terms) VALUES ('delete', ?, ?)")
    .all(Number(row["key"]) * 1024 + Number(row["length"]), tokens);
  raw.exec("INSERT INTO words (words, rank) VALUES ('secure-delete', 1)");
  raw.close();
}

export const openHashed = (path: string): Promise<Memory> => open({ path, embedder: new HashEmbedder() });
