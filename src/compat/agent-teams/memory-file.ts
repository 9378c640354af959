/**
 * A file that is replaced atomically: a temporary file is written beside it, synced and renamed. Reading needs no lock.
 * Everything else requires the folder's lock, which distinguishes a file being written from one that a killed process left
 * behind.
 */
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { open, readdir, rename, rm, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { syncFolder } from "../../folder.js";
import { isAbsent } from "./team-folder.js";

const FILE_MODE = 0o600;
/** Temporary names start with a dot, which agent names cannot. */
const UNFINISHED = /^\.[0-9a-f-]{36}\.tmp$/;
/** 0 where the system has no such flag. */
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const NON_BLOCKING = constants.O_NONBLOCK ?? 0;

/** The bytes; undefined if there is no file. A link is an error (ELOOP) and is not followed. */
export async function read(path: string): Promise<Uint8Array | undefined> {
  try {
    const handle = await open(path, constants.O_RDONLY | NO_FOLLOW | NON_BLOCKING);
    try {
      if (!(await handle.stat()).isFile()) throw new Error("it is not a plain file");
      return await handle.readFile();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/** Replaces the file's text; durable when it resolves. Removes temporary files of killed processes. */
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

/** Does nothing if there is no file. */
export async function remove(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (isAbsent(error)) return;
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Renames the file to a free name beside it, ending in `label`, and returns its path. */
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
