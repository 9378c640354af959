/** Bytes become the same lines however they are cut into chunks. */
import { describe, expect, it } from "vitest";
import { splitLines } from "./split-lines.js";

async function* chunked(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function linesOf(lines: AsyncIterable<string>): Promise<string[]> {
  const list: string[] = [];
  for await (const line of lines) list.push(line);
  return list;
}

describe("splitLines", () => {
  const lines = ["a", "", "é 👩‍👩‍👧 \u2028 one line \u2029", "with\r", "last"];

  it("splits at line feeds only, wherever chunks and characters are cut", async () => {
    const bytes = new TextEncoder().encode(lines.join("\n"));
    for (let size = 1; size <= bytes.length; size++) {
      expect(await linesOf(splitLines(chunked(bytes, size))), `chunks of ${size}`).toEqual(lines);
    }
    const ended = new TextEncoder().encode(`${lines.join("\n")}\n`);
    expect(await linesOf(splitLines(chunked(ended, 7)))).toEqual(lines);
  });

  it("refuses a line that is too long before it is read to its end", async () => {
    const bytes = new TextEncoder().encode(`short\n${"x".repeat(100)}`);
    const long = linesOf(splitLines(chunked(bytes, 10), 20));
    await expect(long).rejects.toMatchObject({ code: "too_large", details: { line: 2 } });
  });
});
