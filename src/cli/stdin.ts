/** Reads stdin as text or lines. It must be UTF-8, because anything else would be stored as something different. */
import type { Readable } from "node:stream";
import { HoldfastError } from "../errors.js";
import { CONTENT_BYTES_MAX } from "../input/limits.js";
import { decodeUtf8, withoutMark } from "../text.js";
import { splitLines } from "../transfer/split-lines.js";
import type { Io } from "./io.js";

/** A text from an argument; "-" means stdin, as does no argument if something is piped in. */
export async function textFrom(io: Io, given: string | undefined, isLine: boolean): Promise<string> {
  const isStdin = given === "-" || (given === undefined && !io.stdin.isTTY);
  const text = isStdin ? await readText(io) : (given ?? "");
  // `echo` appends a line feed that is not meant.
  return isStdin && isLine ? text.replace(/\r?\n$/, "") : text;
}

async function readText(io: Io): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of io.stdin) {
    const piece = Buffer.from(chunk as Buffer | string);
    bytes += piece.length;
    if (bytes > CONTENT_BYTES_MAX) throw tooLong(`more than ${CONTENT_BYTES_MAX / 1024 / 1024} MiB of text`);
    chunks.push(piece);
  }
  return withoutMark(decodeUtf8(Buffer.concat(chunks), "stdin"));
}

export interface Line {
  readonly number: number;
  readonly text: string;
}

/** Non-empty lines, read lazily. */
export async function* readLines(input: Readable): AsyncGenerator<Line> {
  let number = 0;
  for await (const text of splitLines(input)) {
    number++;
    if (text.trim() !== "") yield { number, text };
  }
}

const tooLong = (what: string): HoldfastError =>
  new HoldfastError("too_large", `stdin has ${what}`, {
    hint: "split it into several messages: one JSON object per line, with --jsonl",
  });
