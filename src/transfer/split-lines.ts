/**
 * A stream of bytes as lines, for importLines. Lines end at LF and nowhere else: readers that split at U+2028 too, as
 * Node's readline does, would cut messages in two. The last line need not end. Memory holds one chunk and one line.
 */
import { HoldfastError } from "../errors.js";

/** More than the largest item can take, escaped as badly as it can be. */
const LINE_UNITS_MAX = 64 * 1024 * 1024;

export async function* splitLines(
  chunks: AsyncIterable<Uint8Array | string>,
  lineUnitsMax = LINE_UNITS_MAX,
): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder();
  let line = "";
  let number = 1;
  const refuseOverlong = (units: number): void => {
    if (units > lineUnitsMax) throw tooLong(number, lineUnitsMax);
  };
  for await (const chunk of chunks) {
    const text = typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
    let start = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
      refuseOverlong(line.length + end - start);
      yield line + text.slice(start, end);
      number++;
      line = "";
      start = end + 1;
    }
    line += text.slice(start);
    refuseOverlong(line.length);
  }
  line += decoder.decode();
  if (line !== "") yield line;
}

const tooLong = (line: number, limit: number): HoldfastError =>
  new HoldfastError("too_large", `line ${line} is over the limit of ${limit} characters`, {
    hint: "each line must be one JSON object; is the file of another format?",
    details: { line },
  });
