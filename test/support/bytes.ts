/** The raw bytes of a memory's files, as anyone with access to the disk can read them. */
import { existsSync, readFileSync } from "node:fs";

/** Which of the texts can still be read in the file, its log or its shared memory. */
export function stillInFiles(path: string, texts: readonly string[]): string[] {
  const bytes = bytesOfFiles(path);
  return texts.filter((text) => bytes.some((file) => file.includes(text)));
}

export function bytesOfFiles(path: string): readonly Buffer[] {
  const files = ["", "-wal", "-shm"].map((suffix) => path + suffix).filter(existsSync);
  return files.map((file) => readFileSync(file));
}
