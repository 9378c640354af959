/** Creates folders that survive a power cut: a name is durable once the folder that contains it has been synced. */
import { mkdir, open } from "node:fs/promises";
import { dirname, resolve } from "node:path";

/** Creates a folder and its missing parents, durably. Does nothing if it exists. */
export async function makeFolder(folder: string, mode: number): Promise<void> {
  const wanted = resolve(folder);
  const first = await mkdir(wanted, { recursive: true, mode });
  if (first === undefined) return;
  for (let made = wanted; ; made = dirname(made)) {
    await syncFolder(dirname(made));
    if (made === first) return;
  }
}

/** Makes the names in a folder durable. Windows cannot open folders. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
