import { expect, test } from "vitest";
import { parsePatch } from "./patch.js";

test.each([
  [{ content: "new" }, { content: "new", parts: null }],
  [{ content: "" }, { content: "", parts: null }],
  [{ content: [{ type: "image" }] }, { content: "[image]", parts: [{ type: "image" }] }],
  [{ content: "a\0" }, { content: "a\ufffd", parts: null }],
  [{ role: "system" }, { role: "system" }],
  [
    { name: null, expiresAt: null },
    { name: null, expiresAt: null },
  ],
  [
    { name: "Ada", expiresAt: "1970-01-01" },
    { name: "Ada", expiresAt: 0 },
  ],
  [
    { metadata: {}, tier: "working" },
    { metadata: {}, tier: "working" },
  ],
  [{ occurredAt: new Date(7), role: undefined }, { occurredAt: 7 }],
])("%j is the patch %j", (given, patch) => expect(parsePatch(given)).toStrictEqual(patch));

test.each([
  [{}, "patch changes nothing"],
  [{ content: undefined, name: undefined }, "patch changes nothing"],
  [{ contents: "x" }, 'patch has an unknown key "contents"; did you mean "content"?'],
  [{ id: "x" }, 'patch has an unknown key "id"'],
  [{ content: null }, "patch.content must be a string or a list of parts, got null"],
  [{ role: null }, "patch.role must be one of"],
  [{ tier: null }, "patch.tier must be one of"],
  [{ metadata: null }, "patch.metadata must be a plain JSON object, got null"],
  [{ occurredAt: null }, "patch.occurredAt must be epoch"],
  [{ name: 5 }, "patch.name must be a string, got a number"],
  [null, "patch must be an object, got null"],
])("%j is refused", (given, message) => {
  expect(() => parsePatch(given)).toThrow(
    expect.objectContaining({ code: "invalid_input", message: expect.stringContaining(message) }),
  );
});
