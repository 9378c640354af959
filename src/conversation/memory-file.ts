/**
 * A file that is replaced as a whole or not at all: written beside its place, synced, then renamed into it. Reading needs
 * no lock. Everything else requires the lock of the folder: it is what tells a file that is being written from one that a
 * killed process has left behind.
 */
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { open, readdir, rename, rm, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isAbsent, syncFolder } from "./team-folder.js";

const FILE_MODE = 0o600;
/** Such a name starts with a dot, as no agent's does. */
const UNFINISHED = /^\.[0-9a-f-]{36}\.tmp$/;
/** Where the system knows no such flag, nothing is to be done. */
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;

/** The bytes; undefined if there is no file. A link in its place is an error (ELOOP), not followed. */
export async function read(path: string): Promise<Uint8Array | undefined> {
  try {
    const handle = await open(path, constants.O_RDONLY | NO_FOLLOW);
    try {
      return await handle.readFile();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/** Puts the text into the file's place; when it resolves, durably. Removes what killed processes have left. */
export async function replace(path: string, text: string): Promise<void> {
  const folder = dirname(path);
  await removeUnfinished(folder);
  const unfinished = join(folder, `.${randomUUID()}.tmp`);
  try {
    const handle = await open(unfinished, "wx", FILE_MODE);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  await syncFolder(folder);
}

async function removeUnfinished(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (UNFINISHED.test(name)) await rm(join(folder, name), { force: true });
  }
}

/** Nothing to do if there is no file. */
export async function remove(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (isAbsent(error)) return;
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Gives the file another name beside it, one that is free, and returns its path. `label` is the name's new end. */
export async function setAside(path: string, label: string): Promise<string> {
  const folder = dirname(path);
  const taken = new Set(await readdir(folder));
  let name = `${basename(path)}.${label}`;
  for (let more = 2; taken.has(name); more++) name = `${basename(path)}.${label}-${more}`;
  const aside = join(folder, name);
  await rename(path, aside);
  await syncFolder(folder);
  return aside;
}
