/**
 * Download: a file on the user's disk that is written while it arrives. If the browser supports that, it is written directly to
 * the file that the user names; otherwise the browser collects it, on disk if it is large, and saves it at the end.
 */
export interface Download {
  readonly name: string;
  write(piece: string | Uint8Array<ArrayBuffer>): Promise<void>;
  /** Completes the file. */
  close(): Promise<void>;
  /** Leaves nothing behind. */
  abort(): Promise<void>;
}

interface PickerWindow {
  showSaveFilePicker?(options: { readonly suggestedName: string }): Promise<FileSystemFileHandle>;
}

/** How much is collected before it is handed to the browser, which may keep it on disk. */
const PART_BYTES = 4 * 1024 * 1024;

/** Call it from a click, before anything is awaited. Undefined: the user named no file. */
export async function openDownload(name: string): Promise<Download | undefined> {
  const { showSaveFilePicker } = window as PickerWindow;
  if (!showSaveFilePicker) return new Collected(name);
  try {
    const handle = await showSaveFilePicker.call(window, { suggestedName: name });
    return new Written(handle.name, await handle.createWritable());
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") return undefined;
    throw error;
  }
}

class Written implements Download {
  readonly name: string;
  readonly #file: FileSystemWritableFileStream;

  constructor(name: string, file: FileSystemWritableFileStream) {
    this.name = name;
    this.#file = file;
  }

  write(piece: string | Uint8Array<ArrayBuffer>): Promise<void> {
    return this.#file.write(piece);
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  abort(): Promise<void> {
    return this.#file.abort();
  }
}

class Collected implements Download {
  readonly name: string;
  #whole = new Blob();
  #pieces: (string | Uint8Array<ArrayBuffer>)[] = [];
  #bytes = 0;

  constructor(name: string) {
    this.name = name;
  }

  async write(piece: string | Uint8Array<ArrayBuffer>): Promise<void> {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes < PART_BYTES) return;
    this.#whole = new Blob([this.#whole, ...this.#pieces.splice(0)]);
    this.#bytes = 0;
  }

  async close(): Promise<void> {
    const url = URL.createObjectURL(new Blob([this.#whole, ...this.#pieces]));
    const link = document.createElement("a");
    link.href = url;
    link.download = this.name;
    link.click();
    // The browser reads it after this.
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  }

  async abort(): Promise<void> {
    this.#pieces = [];
    this.#whole = new Blob();
  }
}
