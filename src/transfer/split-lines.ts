/**
 * Splits a stream of bytes into lines, for importLines. Lines end at LF only: readers that also split at U+2028, such as
 * Node's readline, would cut messages in two. The last line needs no LF. Memory holds one chunk and one line.
 */
import { HoldfastError } from "../errors.js";
import { decodeUtf8 } from "../text.js";

/** More than the largest item takes, even if every character is escaped. */
const LINE_BYTES_MAX = 64 * 1024 * 1024;
const LINE_FEED = 0x0a;

/** Rejects with `invalid_input` at a line that is not UTF-8, with `too_large` at one that is too long. Errors name the line. */
export async function* splitLines(
  chunks: AsyncIterable<Uint8Array | string>,
  lineBytesMax = LINE_BYTES_MAX,
): AsyncGenerator<string, void, void> {
  let line = 0;
  for await (const bytes of splitBytes(chunks, lineBytesMax)) yield decodeUtf8(bytes, `line ${++line}`, { line });
}

/** The same lines, as bytes. */
export async function* splitBytes(
  chunks: AsyncIterable<Uint8Array | string>,
  lineBytesMax = LINE_BYTES_MAX,
): AsyncGenerator<Uint8Array, void, void> {
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  let line = 1;
  const keep = (piece: Uint8Array): void => {
    bytes += piece.byteLength;
    if (bytes > lineBytesMax) throw tooLong(line, lineBytesMax);
    if (piece.byteLength > 0) pieces.push(piece);
  };
  const take = (): Uint8Array => {
    const [only, ...more] = pieces;
    const whole = only && more.length === 0 ? only : Buffer.concat(pieces);
    pieces = [];
    bytes = 0;
    line++;
    return whole;
  };
  for await (const given of chunks) {
    const chunk = typeof given === "string" ? encoded(given, line) : given;
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      keep(chunk.subarray(start, end));
      yield take();
      start = end + 1;
    }
    keep(chunk.subarray(start));
  }
  if (bytes > 0) yield take();
}

/** Refuses lone surrogates, which would become U+FFFD. */
function encoded(text: string, line: number): Uint8Array {
  if (text.isWellFormed()) return Buffer.from(text);
  throw new HoldfastError("invalid_input", `line ${line}, or one soon after, contains a lone surrogate`, {
    hint: "pass bytes, or split the text between characters",
    details: { line },
  });
}

const tooLong = (line: number, limit: number): HoldfastError =>
  new HoldfastError("too_large", `line ${line} is over the limit of ${limit} bytes`, {
    hint: "each line must be one JSON object; check the format of the file",
    details: { line },
  });
