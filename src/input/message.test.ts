import fc from "fast-check";
import { expect, test } from "vitest";
import { parseItems, parseMessages } from "./message.js";

const NOW = 1_767_225_600_000;
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const refused = (code: string, message: string) =>
  expect.objectContaining({ code, message: expect.stringContaining(message) });
const parse = (...messages: unknown[]) => parseMessages(messages, NOW);

test("a plain message gets an id, the time, and the defaults", () => {
  const { rows, given } = parse({ role: "user", content: "I moved to Lisbon." });
  expect(rows).toStrictEqual([
    {
      id: expect.stringMatching(UUID_V7),
      kind: "message",
      role: "user",
      content: "I moved to Lisbon.",
      metadata: {},
      tier: "episodic",
      occurredAt: NOW,
    },
  ]);
  expect(given).toEqual([{ id: false, occurredAt: false }]);
});

test("everything a caller gives is kept", () => {
  const { rows, given } = parse({
    id: "m-1",
    role: "tool",
    name: "search",
    content: [{ type: "image", alt: "a cat" }],
    occurredAt: "2026-01-01T01:00:00+01:00",
    metadata: { topic: "cats" },
    tier: "semantic",
    expiresAt: new Date(NOW + 5),
  });
  expect(rows).toStrictEqual([
    {
      id: "m-1",
      kind: "message",
      role: "tool",
      name: "search",
      content: "[image: a cat]",
      parts: [{ type: "image", alt: "a cat" }],
      metadata: { topic: "cats" },
      tier: "semantic",
      occurredAt: NOW,
      expiresAt: NOW + 5,
    },
  ]);
  expect(given).toEqual([{ id: true, occurredAt: true }]);
});

test("undefined counts as left out", () => {
  const [row] = parse({
    ...{ id: undefined, role: "user", name: undefined, content: "x", occurredAt: undefined },
    ...{ metadata: undefined, tier: undefined, expiresAt: undefined },
  }).rows;
  expect(Object.keys(row ?? {}).sort()).toEqual(["content", "id", "kind", "metadata", "occurredAt", "role", "tier"]);
});

test("messages keep their order and get rising ids", () => {
  const { rows } = parseMessages(
    Array.from({ length: 5000 }, (_, index) => ({ role: "user", content: String(index) })),
    NOW,
  );
  expect(rows.map((row) => row.content)).toEqual(Array.from({ length: 5000 }, (_, index) => String(index)));
  const ids = rows.map((row) => row.id);
  expect(ids).toEqual([...new Set(ids)].sort());
});

test.each([
  [{ content: "x" }, "messages[1].role must be one of"],
  [{ role: "asistant", content: "x" }, 'got "asistant"; did you mean "assistant"?'],
  [{ role: "user" }, "messages[1].content must be a string or a list of parts, got undefined"],
  [{ role: "user", content: null }, "messages[1].content must be a string or a list of parts, got null"],
  [{ role: "user", contnet: "x" }, 'messages[1] has an unknown key "contnet"; did you mean "content"?'],
  [{ role: "user", content: "x", kind: "fact" }, 'messages[1] has an unknown key "kind"'],
  [{ role: "user", content: "x", occured_at: 5 }, 'unknown key "occured_at"; did you mean "occurredAt"?'],
  [{ role: "user", content: "x", id: "" }, "messages[1].id must not be empty"],
  [{ role: "user", content: "x", id: "\ud800" }, "messages[1].id must not contain"],
  [{ role: "user", content: "x", id: 5 }, "messages[1].id must be a string, got a number"],
  [{ role: "user", content: "x", name: null }, "messages[1].name must be a string, got null"],
  [
    { role: "user", content: "x", tier: "episodc" },
    'messages[1].tier must be one of "working", "episodic", "semantic"',
  ],
  [{ role: "user", content: "x", occurredAt: "yesterday" }, "messages[1].occurredAt must be epoch"],
  [{ role: "user", content: "x", expiresAt: null }, "messages[1].expiresAt must be epoch"],
  [{ role: "user", content: "x", metadata: { a: { b: undefined } } }, "messages[1].metadata.a.b must be"],
  [{ role: "user", content: [{ type: "text" }] }, "messages[1].content[0].text must be a string"],
  [null, "messages[1] must be an object, got null"],
  ["hello", "messages[1] must be an object, got a string"],
])("%j is refused by its place", (message, error) => {
  expect(() => parse({ role: "user", content: "fine" }, message)).toThrow(refused("invalid_input", error));
});

test("what is too large is refused as such", () => {
  const message = { role: "user", content: "x" };
  expect(() => parse({ ...message, id: "x".repeat(513) })).toThrow(refused("too_large", "messages[0].id is over"));
  expect(() => parse({ ...message, name: "x".repeat(513) })).toThrow(refused("too_large", "messages[0].name is over"));
  expect(() => parse({ ...message, content: "x".repeat(8 * 1024 * 1024 + 1) })).toThrow(
    refused("too_large", "messages[0].content is over the limit of 8 MiB"),
  );
});

test("names are content: repaired, any, even empty", () => {
  const names = ["", "a\ud800", "\0", "x".repeat(512)].map(
    (name) => parse({ role: "user", content: "", name }).rows[0]?.name,
  );
  expect(names).toEqual(["", "a\ufffd", "\ufffd", "x".repeat(512)]);
});

test.each([
  [{ role: "user", content: "x" }, "messages must be a list, got an object"],
  [undefined, "messages must be a list, got undefined"],
  [Array(2), "messages[0] must be an object, got undefined"],
])("%j is not a list of messages", (messages, error) => {
  expect(() => parseMessages(messages, NOW)).toThrow(refused("invalid_input", error));
});

test("an empty list is an empty round", () => {
  for (const parseNone of [parseMessages, parseItems]) expect(parseNone([], NOW)).toEqual({ rows: [], given: [] });
});

test("an id given twice in one call is refused", () => {
  const message = (id?: string) => ({ role: "user", content: "x", ...(id && { id }) });
  expect(() => parse(message("a"), message(), message("b"), message("a"))).toThrow(
    refused("invalid_input", "messages[3].id is the id of messages[0] too"),
  );
  expect(() => parse(message("a"), message("A"), message(), message())).not.toThrow();
});

test("items are of another kind than message", () => {
  const { rows } = parseItems(
    [
      { kind: "knowledge", content: "Lisbon is in Portugal." },
      { kind: "fact", content: "", role: "assistant", id: "f" },
      { kind: "overflow", content: "x" },
    ],
    NOW,
  );
  expect(rows.map(({ kind, role }) => [kind, role])).toEqual([
    ["knowledge", undefined],
    ["fact", "assistant"],
    ["overflow", undefined],
  ]);
  expect(rows[0]).not.toHaveProperty("role");
  const item = (fields: object) => () => parseItems([{ content: "x", ...fields }], NOW);
  expect(item({ kind: "message" })).toThrow(refused("invalid_input", 'items[0].kind must be one of "knowledge"'));
  expect(item({})).toThrow(refused("invalid_input", "items[0].kind must be one of"));
  expect(item({ kind: "fcat" })).toThrow(refused("invalid_input", 'did you mean "fact"?'));
  expect(item({ kind: "fact", role: "x" })).toThrow(refused("invalid_input", "items[0].role must be one of"));
});

test("any input gives rows or a refusal", () => {
  fc.assert(
    fc.property(fc.anything({ withNullPrototype: true, withBigInt: true, withDate: true, withMap: true }), (value) => {
      const message = { role: "user", content: "x", metadata: value, occurredAt: value, id: value, name: value };
      for (const messages of [value, [value], [message], [{ role: value, content: value }]]) {
        try {
          const { rows } = parseMessages(messages, NOW);
          expect(structuredClone(rows)).toEqual(rows);
        } catch (error) {
          expect(error).toMatchObject({
            name: "HoldfastError",
            code: expect.stringMatching(/^(invalid_input|too_large)$/),
          });
        }
      }
    }),
  );
});
