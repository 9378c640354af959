import fc from "fast-check";
import { expect, test } from "vitest";
import { fitsBytes } from "../text.js";
import { parseContent } from "./content.js";

const MIB = 1024 * 1024;
const refused = (code: string, message: string) =>
  expect.objectContaining({ code, message: expect.stringContaining(message) });
const parse = (value: unknown) => parseContent(value, "content");

test("any text comes back, broken characters replaced", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.constantFrom("", "\ud800", "\udfff", "\0"), (text, broken) => {
      const { content } = parse(text + broken);
      expect(content).toBe((text + broken).toWellFormed().replaceAll("\0", "\ufffd"));
    }),
  );
});

test("empty is allowed", () => {
  expect(parse("")).toEqual({ content: "" });
  expect(parse([])).toEqual({ content: "", parts: [] });
  expect(parse([{ type: "text", text: "" }]).content).toBe("");
});

test("text parts are joined, others described and kept", () => {
  const parts = [
    { type: "text", text: "Look:" },
    { type: "image", description: "a cat", alt: "no", url: "https://x/y.png" },
    { type: "image", alt: "a dog" },
    { type: "audio", description: " ", name: "speaker.wav" },
    { type: "file", filename: "tax.pdf", title: "no" },
    { type: "link", title: "Lisbon" },
    { type: "image_url", image_url: { url: "data:…" }, name: 5 },
    { type: "text", text: "done", cache_control: { type: "ephemeral" } },
  ];
  const parsed = parse(parts);
  expect(parsed.content.split("\n")).toEqual([
    "Look:",
    "[image: a cat]",
    "[image: a dog]",
    "[audio: speaker.wav]",
    "[file: tax.pdf]",
    "[link: Lisbon]",
    "[image_url]",
    "done",
  ]);
  expect(parsed.parts).toEqual(parts);
});

test("parts are copied and repaired; undefined keys count as left out", () => {
  const part = { type: "image", description: "a\ud800", alt: undefined, size: { w: 1 } };
  const parsed = parse([part]);
  part.size.w = 2;
  expect(parsed).toStrictEqual({
    content: "[image: a\ufffd]",
    parts: [{ type: "image", description: "a\ufffd", size: { w: 1 } }],
  });
});

test.each([
  [null, "content must be a string or a list of parts, got null"],
  [undefined, "content must be a string or a list of parts, got undefined"],
  [{ type: "text", text: "x" }, "content must be a string or a list of parts, got an object"],
  [["hello"], "content[0] must be a part, got a string"],
  [[{ type: "text", text: "a" }, null], "content[1] must be a part, got null"],
  [[[]], "content[0] must be a part, got a list"],
  [[{ text: "a" }], "content[0].type must be a string, got undefined"],
  [[{ type: "" }], "content[0].type must not be empty"],
  [[{ type: "text" }], "content[0].text must be a string, got undefined"],
  [[{ type: "text", text: 5 }], "content[0].text must be a string, got a number"],
  [[{ type: "image", description: {} }], "content[0].description must be a string, got an object"],
  [[{ type: "image", data: Buffer.from("x") }], "content[0].data must be a JSON value, got an instance of Buffer"],
])("%j is refused", (value, message) => expect(() => parse(value)).toThrow(refused("invalid_input", message)));

test("8 MiB of UTF-8 are allowed, one byte more is not", () => {
  expect(parse("x".repeat(8 * MIB)).content).toHaveLength(8 * MIB);
  const error = refused("too_large", "content is over the limit of 8 MiB of text");
  expect(() => parse("x".repeat(8 * MIB + 1))).toThrow(error);
  expect(() => parse("漢".repeat((8 * MIB) / 3 + 1))).toThrow(error);
  expect(() => parse("\0".repeat(3 * MIB))).toThrow(error);
  expect(() => parse([{ type: "image", data: "x".repeat(8 * MIB) }])).toThrow(refused("too_large", "content is over"));
});

test("no error contains content", () => {
  expect(() =>
    parse([
      { type: "text", text: "secret" },
      { type: "text", text: { secret: "secret" } },
    ]),
  ).toThrow(expect.not.objectContaining({ message: expect.stringContaining("secret") }));
});

test("fitsBytes agrees with the encoder", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.nat(100), (text, max) => {
      expect(fitsBytes(text, max)).toBe(Buffer.byteLength(text) <= max);
    }),
  );
});
