/** The folder of a team's memories. It is always inside the base, even if there are symbolic links. */
import { mkdir, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { HoldfastError } from "../../errors.js";
import { makeFolder, syncFolder } from "../../folder.js";
import { fileMutex } from "./file-mutex.js";

/** Private. */
const FOLDER_MODE = 0o700;
const MEMORY = "memory";

export function pathOf(base: string, team: string): string {
  return join(base, team, MEMORY);
}

/** Whether the folder exists. Throws if a link leads out of the base. */
export async function exists(base: string, team: string): Promise<boolean> {
  try {
    await assertInside(base, pathOf(base, team));
    return true;
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}

/** Creates missing folders, private and durable. Each step is checked, so that nothing is created outside the base. */
export function ensure(base: string, team: string): Promise<void> {
  // One at a time: a save that finds a folder another save has just created must not overtake the sync of its name.
  return fileMutex.run(base, async () => {
    await makeFolder(base, FOLDER_MODE);
    for (const folder of [join(base, team), pathOf(base, team)]) {
      const isNew = await make(folder);
      await assertInside(base, folder);
      if (isNew || !durable.has(folder)) await syncFolder(dirname(folder));
      durable.add(folder);
    }
  });
}

/** Folders whose names this process has synced. The process that created one may have been killed before its sync. */
const durable = new Set<string>();

/** True if it was created. */
async function make(folder: string): Promise<boolean> {
  try {
    await mkdir(folder, { mode: FOLDER_MODE });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

async function assertInside(base: string, folder: string): Promise<void> {
  const way = relative(await realpath(base), await realpath(folder));
  if (way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way)) return;
  throw new HoldfastError("store_unsafe", `${folder} leads out of ${base}`, {
    hint: "a link there points elsewhere; replace it with a folder",
    details: { path: folder },
  });
}

export const isAbsent = (error: unknown): boolean => (error as NodeJS.ErrnoException | null)?.code === "ENOENT";
