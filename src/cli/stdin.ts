/** What is piped in: a text, or lines. It must be UTF-8: what is not would be stored as something else. */
import type { Readable } from "node:stream";
import { HoldfastError } from "../errors.js";
import { CONTENT_BYTES_MAX } from "../input/limits.js";
import type { Io } from "./io.js";

/** The longest line: a message of the largest size with every character escaped, and its metadata. */
const LINE_BYTES_MAX = 64 * 1024 * 1024;
const LINE_FEED = 0x0a;

/** A text from an argument; "-" means stdin, and so does nothing at all if something is piped in. */
export async function textFrom(io: Io, given: string | undefined, isLine: boolean): Promise<string> {
  const isStdin = given === "-" || (given === undefined && !io.stdin.isTTY);
  const text = isStdin ? await readText(io) : (given ?? "");
  // `echo` ends with a line feed that nobody means.
  return isStdin && isLine ? text.replace(/\r?\n$/, "") : text;
}

export async function readText(io: Io): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of io.stdin) {
    const piece = Buffer.from(chunk as Buffer | string);
    bytes += piece.length;
    if (bytes > CONTENT_BYTES_MAX) throw tooLong(`more than ${CONTENT_BYTES_MAX / 1024 / 1024} MiB of text`);
    chunks.push(piece);
  }
  return decoded(Buffer.concat(chunks));
}

export interface Line {
  readonly number: number;
  readonly text: string;
}

/** Lines as they come, the empty ones left out unless they count. Reads no further than they are asked for. */
export async function* readLines(input: Readable, withEmpty = false): AsyncGenerator<Line> {
  let waiting: Buffer[] = [];
  let bytes = 0;
  let number = 0;
  const taken = (last: Buffer): Line => {
    const text = decoded(Buffer.concat([...waiting, last]), ++number);
    waiting = [];
    bytes = 0;
    return { number, text };
  };
  for await (const chunk of input) {
    let rest = Buffer.from(chunk as Buffer | string);
    for (let at = rest.indexOf(LINE_FEED); at >= 0; at = rest.indexOf(LINE_FEED)) {
      const line = taken(rest.subarray(0, at));
      rest = rest.subarray(at + 1);
      if (withEmpty || line.text.trim() !== "") yield line;
    }
    bytes += rest.length;
    if (bytes > LINE_BYTES_MAX) throw tooLong(`a line of more than ${LINE_BYTES_MAX / 1024 / 1024} MiB`);
    if (rest.length > 0) waiting.push(rest);
  }
  const last = taken(Buffer.alloc(0));
  if (last.text.trim() !== "") yield last;
}

function decoded(bytes: Buffer, line?: number): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    const where = line === undefined ? "what was piped in" : `line ${line}`;
    throw new HoldfastError("invalid_input", `${where} is not text in UTF-8`, {
      hint: "convert it first, for example with iconv -t UTF-8; files that are no text cannot be stored",
      cause,
    });
  }
}

const tooLong = (what: string): HoldfastError =>
  new HoldfastError("too_large", `what was piped in is ${what}`, {
    hint: "cut it into several messages: one JSON object per line, with --jsonl",
  });
