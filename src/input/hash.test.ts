import fc from "fast-check";
import { expect, test } from "vitest";
import { payloadHash } from "./hash.js";
import { parseItems, parseMessages } from "./message.js";

const NOW = 1_767_225_600_000;
const hash = (messages: unknown, now = NOW) => payloadHash(parseMessages(messages, now));
const BASE = { role: "user", content: "x" };

test("is the same when the same call is made again later", () => {
  const messages = [BASE, { role: "assistant", content: "y", metadata: { a: 1 } }];
  expect(hash(messages, NOW + 1000)).toBe(hash(structuredClone(messages)));
  expect(hash(messages)).toMatch(/^[A-Za-z0-9_-]{43}$/);
});

test("does not depend on the order of keys, at any depth", () => {
  expect(hash([{ ...BASE, metadata: { a: 1, b: { c: 2, d: [{ e: 3, f: 4 }] } } }])).toBe(
    hash([{ metadata: { b: { d: [{ f: 4, e: 3 }], c: 2 }, a: 1 }, content: "x", role: "user" }]),
  );
  const part = { type: "image", alt: "a", url: "u" };
  expect(hash([{ ...BASE, content: [part] }])).toBe(
    hash([{ ...BASE, content: [{ url: "u", alt: "a", type: "image" }] }]),
  );
});

test("is another for every difference in what was said", () => {
  const others = [
    [BASE],
    [BASE, BASE],
    [{ ...BASE, role: "assistant" }],
    [{ ...BASE, content: "y" }],
    [{ ...BASE, content: [{ type: "text", text: "x" }] }],
    [{ ...BASE, content: [{ type: "text", text: "x", lang: "en" }] }],
    [{ ...BASE, name: "" }],
    [{ ...BASE, name: "Ada" }],
    [{ ...BASE, metadata: { a: 1 } }],
    [{ ...BASE, metadata: { a: "1" } }],
    [{ ...BASE, metadata: { a: [1] } }],
    [{ ...BASE, metadata: JSON.parse('{"__proto__":1}') }],
    [{ ...BASE, tier: "semantic" }],
    [{ ...BASE, id: "a" }],
    [{ ...BASE, occurredAt: NOW }],
    [{ ...BASE, occurredAt: NOW + 1 }],
    [{ ...BASE, expiresAt: NOW }],
  ].map((messages) => hash(messages));
  expect(new Set(others).size).toBe(others.length);
  expect(payloadHash(parseItems([{ kind: "fact", ...BASE }], NOW))).not.toBe(
    payloadHash(parseItems([{ kind: "knowledge", ...BASE }], NOW)),
  );
});

test("does not depend on how a time is written", () => {
  expect(hash([{ ...BASE, occurredAt: "2026-01-01" }])).toBe(hash([{ ...BASE, occurredAt: new Date(NOW) }]));
});

test("text cannot be moved between fields or messages", () => {
  const texts = fc.array(fc.record({ name: fc.string(), content: fc.string() }), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(texts, texts, (a, b) => {
      const said = (list: typeof a) => list.map((fields) => ({ role: "user", ...fields }));
      expect(hash(said(a)) === hash(said(b))).toBe(JSON.stringify(a) === JSON.stringify(b));
    }),
  );
});

test("the form is pinned: hashes are kept in the store", () => {
  expect(hash([{ ...BASE, id: "m", occurredAt: 0, metadata: { b: [1], a: null } }])).toBe(
    "TrHJdKLr-arrOXUtDMj9ZlDQm7zNOVrYss49SAioTvc",
  );
});
