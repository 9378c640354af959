import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Runs `work` in a folder of its own, which is removed afterwards; after a failure it stays, as evidence. */
export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-test-"));
  try {
    const result = await work(folder);
    await rm(folder, { recursive: true });
    return result;
  } catch (error) {
    console.error(`The files of the failed test are kept in ${folder}`);
    throw error;
  }
}
