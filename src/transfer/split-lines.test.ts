/** Bytes become the same lines however they are split into chunks. */
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

  it("refuses a line that is not UTF-8 by its number, wherever chunks are cut; the lines before it come", async () => {
    for (const broken of [[0xff], [0xc3, 0x28], [0xe2, 0x82], [0xc0, 0xaf], [0xed, 0xa0, 0x80]]) {
      const bytes = Buffer.concat([Buffer.from("é\n\n"), Buffer.from(broken), Buffer.from("\nlast")]);
      for (let size = 1; size <= bytes.length; size++) {
        const lines = splitLines(chunked(bytes, size));
        expect([(await lines.next()).value, (await lines.next()).value]).toEqual(["é", ""]);
        await expect(lines.next()).rejects.toMatchObject({
          code: "invalid_input",
          message: "line 3 is not text in UTF-8",
          details: { line: 3 },
        });
      }
    }
  });

  it("also accepts text, unless it contains half of a surrogate pair", async () => {
    async function* texts(...all: string[]) {
      yield* all;
    }
    expect(await linesOf(splitLines(texts("é\n🦊", " a\n")))).toEqual(["é", "🦊 a"]);
    await expect(linesOf(splitLines(texts("a\n\ud800")))).rejects.toMatchObject({ code: "invalid_input" });
  });
});
