/**
 * The file of an export. An interrupted export can be resumed: everything after its last cursor line, including a partial
 * line, is cut off, and the lines after that cursor follow.
 */
import { closeSync, fsyncSync, ftruncateSync, openSync, readSync, statSync, writeSync } from "node:fs";
import { HoldfastError } from "../errors.js";
import { notAFile } from "../plain-file.js";

const CHUNK = 1024 * 1024;
const CURSOR_LINE = /^\{"type":"cursor","cursor":"([\w-]+)"\}$/;
const END_LINE = /^\{"type":"end"/;
const LINE_FEED = 0x0a;

export class ExportFile {
  /** Where the export continues; undefined: at the start. */
  readonly cursor: string | undefined;
  readonly #file: number;

  constructor(path: string, isResumed: boolean) {
    this.#file = isResumed ? existing(path) : created(path);
    if (!isResumed) return;
    const { cursor, end } = this.#lastCursor(path, statSync(path).size);
    this.cursor = cursor;
    ftruncateSync(this.#file, end);
    this.#at = end;
  }

  #at = 0;

  write(line: string): void {
    const bytes = Buffer.from(`${line}\n`);
    for (let sent = 0; sent < bytes.length; )
      sent += writeSync(this.#file, bytes, sent, bytes.length - sent, this.#at + sent);
    this.#at += bytes.length;
  }

  close(): void {
    fsyncSync(this.#file);
    closeSync(this.#file);
  }

  /** Reads the whole file: there is a cursor every hundred lines, but lines may be long. */
  #lastCursor(path: string, size: number): { readonly cursor: string | undefined; readonly end: number } {
    let found: { readonly cursor: string | undefined; readonly end: number } = { cursor: undefined, end: 0 };
    let waiting: Buffer[] = [];
    const chunk = Buffer.alloc(CHUNK);
    for (let at = 0; at < size; ) {
      const read = readSync(this.#file, chunk, 0, CHUNK, at);
      if (read === 0) break;
      let start = 0;
      for (let end = chunk.indexOf(LINE_FEED); end >= 0 && end < read; end = chunk.indexOf(LINE_FEED, start)) {
        const line = Buffer.concat([...waiting, chunk.subarray(start, end)]).toString("utf8");
        waiting = [];
        if (END_LINE.test(line)) throw whole(path);
        const [, cursor] = CURSOR_LINE.exec(line) ?? [];
        if (cursor !== undefined) found = { cursor, end: at + end + 1 };
        start = end + 1;
      }
      waiting.push(Buffer.from(chunk.subarray(start, read)));
      at += read;
    }
    return found;
  }
}

function existing(path: string): number {
  const what = notAFile(path);
  if (what === undefined) return openSync(path, "r+");
  throw new HoldfastError("invalid_input", `${path} ${what}`, { hint: "pass the file of an export" });
}

function created(path: string): number {
  try {
    return openSync(path, "wx", 0o600);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
    throw new HoldfastError("conflict", `${path} already exists`, {
      hint: "choose another name; --resume continues an interrupted export",
      cause,
    });
  }
}

const whole = (path: string): HoldfastError =>
  new HoldfastError("conflict", `${path} is already complete`, { hint: "there is nothing to resume" });
