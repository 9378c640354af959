/** The folder with a team's memories. It lies inside the base, wherever symbolic links may point. */
import { mkdir, open, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { HoldfastError } from "../errors.js";

/** Nobody else's business. */
const FOLDER_MODE = 0o700;
const MEMORY = "memory";

export function pathOf(base: string, team: string): string {
  return join(base, team, MEMORY);
}

/** True if the folder is there; refused if a link leads out of the base. */
export async function exists(base: string, team: string): Promise<boolean> {
  try {
    await assertInside(base, pathOf(base, team));
    return true;
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}

/** Makes what is missing of it, private and durable. Checked at each step, so that nothing is made outside of the base. */
export async function ensure(base: string, team: string): Promise<void> {
  const first = await mkdir(base, { recursive: true, mode: FOLDER_MODE });
  if (first !== undefined) await syncFolder(dirname(first));
  for (const folder of [join(base, team), pathOf(base, team)]) {
    await make(folder);
    await assertInside(base, folder);
  }
}

async function make(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: FOLDER_MODE });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return;
    throw error;
  }
  await syncFolder(dirname(folder));
}

async function assertInside(base: string, folder: string): Promise<void> {
  const way = relative(await realpath(base), await realpath(folder));
  if (way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way)) return;
  throw new HoldfastError("store_unsafe", `${folder} leads out of ${base}`, {
    hint: "a link there points elsewhere; replace it by a folder",
    details: { path: folder },
  });
}

/** Makes the names in a folder durable. Windows neither can nor needs to. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export const isAbsent = (error: unknown): boolean => (error as NodeJS.ErrnoException | null)?.code === "ENOENT";
