import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import type { Io } from "./io.js";
import { type Line, readLines, textFrom } from "./stdin.js";

const piped = (...chunks: readonly (string | Uint8Array)[]): Io =>
  ({ stdin: Readable.from(chunks.map((chunk) => Buffer.from(chunk))) }) as unknown as Io;
const terminal = { stdin: { isTTY: true } } as unknown as Io;
const emoji = Buffer.from("👩‍👩‍👧‍👦");

async function linesOf(io: Io): Promise<readonly Line[]> {
  const lines: Line[] = [];
  for await (const line of readLines(io.stdin)) lines.push(line);
  return lines;
}

describe("a text", () => {
  it("is the argument, or what is piped in if there is none, or if it is -", async () => {
    expect(await textFrom(piped("piped"), "given", true)).toBe("given");
    expect(await textFrom(piped("piped"), undefined, true)).toBe("piped");
    expect(await textFrom(piped("piped"), "-", true)).toBe("piped");
    expect(await textFrom(piped("piped"), "", true)).toBe(""); // an empty argument does not mean stdin
    expect(await textFrom(terminal, undefined, true)).toBe("");
  });

  it("loses the line feed that echo adds, where it is one line, and nothing else", async () => {
    expect(await textFrom(piped("text\n"), "-", true)).toBe("text");
    expect(await textFrom(piped("text\r\n"), "-", true)).toBe("text");
    expect(await textFrom(piped("text\n\n"), "-", true)).toBe("text\n");
    expect(await textFrom(piped("text\n"), "-", false)).toBe("text\n");
  });

  it("may arrive in chunks that split a character", async () => {
    expect(await textFrom(piped(emoji.subarray(0, 5), emoji.subarray(5)), "-", true)).toBe("👩‍👩‍👧‍👦");
  });

  it("must be UTF-8, and not without end", async () => {
    await expect(textFrom(piped(new Uint8Array([0xff, 0xfe, 0x41])), "-", true)).rejects.toMatchObject({
      code: "invalid_input",
    });
    const endless = { stdin: Readable.from(endlessly()) } as unknown as Io;
    await expect(textFrom(endless, "-", true)).rejects.toMatchObject({ code: "too_large" });
  });
});

function* endlessly(): Generator<Buffer> {
  const chunk = Buffer.alloc(1024 * 1024, "x");
  for (;;) yield chunk;
}

describe("lines", () => {
  it("have their numbers; empty ones are left out", async () => {
    const io = () => piped("one\n\ntw", "o\r\n", " \n", "three");
    expect(await linesOf(io())).toEqual([
      { number: 1, text: "one" },
      { number: 3, text: "two\r" },
      { number: 5, text: "three" },
    ]);
  });

  it("may be cut anywhere", async () => {
    const bytes = Buffer.concat([emoji, Buffer.from("\n"), emoji]);
    for (let at = 0; at <= bytes.length; at++) {
      const lines = await linesOf(piped(bytes.subarray(0, at), bytes.subarray(at)));
      expect(lines.map(({ text }) => text)).toEqual(["👩‍👩‍👧‍👦", "👩‍👩‍👧‍👦"]);
    }
  });

  it("that are not UTF-8 are named", async () => {
    await expect(linesOf(piped("good\n", new Uint8Array([0xff, 0x0a])))).rejects.toThrow("line 2 is not text in UTF-8");
  });

  it("without end are refused before they fill the memory", async () => {
    const endless = { stdin: Readable.from(endlessly()) } as unknown as Io;
    await expect(linesOf(endless)).rejects.toMatchObject({ code: "too_large" });
  });
});
