/** FileUpkeep: checks the file of an open memory, and makes backups of it to be sent elsewhere. */
import { type FileHandle, open, rm } from "node:fs/promises";
import { HoldfastError } from "../errors.js";
import { IN_MEMORY } from "../options.js";
import type { Diagnosis } from "./diagnosis.js";
import type { Watch } from "./progress.js";

/** How thoroughly to inspect. */
export interface FileInspectOptions extends Watch {
  /** Checks everything: SQLite's full check, the analysis of all texts, the numbers of all vectors. */
  readonly deep?: boolean;
}

/** A backup that is about to be read. */
export interface FileBackup {
  /** Its size. */
  readonly bytes: number;
  /** The file, in pieces. It is gone when they are read, or when reading ends early. */
  readonly chunks: AsyncGenerator<Uint8Array<ArrayBuffer>, void, void>;
}

const CHUNK_BYTES = 256 * 1024;

/** The upkeep of the file of an open memory, while it is in use. */
export class FileUpkeep {
  readonly #path: string;
  readonly #model: string;

  constructor(path: string, model: string) {
    this.#path = path;
    this.#model = model;
  }

  /** Checks the file and its model without changing anything. */
  async inspect(options: FileInspectOptions = {}): Promise<Diagnosis> {
    const path = this.#file("check");
    const { inspectFile } = await import("./inspect.js");
    return inspectFile({ ...options, path, model: this.#model });
  }

  /**
   * A consistent, checked copy of the file, to be read once. It is made beside the file, which needs as much room again,
   * and its name is removed as soon as it is open, so nothing is left behind if the process ends.
   */
  async backup(watch: Watch = {}): Promise<FileBackup> {
    const path = this.#file("back up");
    const [{ backupFile }, { partFileOf, removeStaleParts }] = await Promise.all([
      import("./backup.js"),
      import("./part-file.js"),
    ]);
    removeStaleParts(`${path}-backup`);
    const to = partFileOf(`${path}-backup`);
    const { bytes } = await backupFile({ path, to, ...watch }).catch((error: unknown) => {
      throw isMissing(error) ? lost(error) : error;
    });
    const file = await open(to);
    await rm(to, { force: true });
    return { bytes, chunks: chunksOf(file) };
  }

  #file(what: string): string {
    if (this.#path !== IN_MEMORY) return this.#path;
    throw new HoldfastError("unsupported", `there is no file to ${what}: the memory is in this process only`, {
      hint: "open it with the path of a file; an export works without one",
    });
  }
}

const isMissing = (error: unknown): error is HoldfastError =>
  error instanceof HoldfastError && error.code === "not_found";

/** For the caller of an open memory its file is not one of several that may exist. */
const lost = (cause: HoldfastError): HoldfastError =>
  new HoldfastError("store_failed", cause.message, {
    hint: "restore a backup, or stop all processes that use it",
    cause,
  });

async function* chunksOf(file: FileHandle): AsyncGenerator<Uint8Array<ArrayBuffer>, void, void> {
  try {
    for (;;) {
      const { bytesRead, buffer } = await file.read({ buffer: new Uint8Array(CHUNK_BYTES) });
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}
