import fc from "fast-check";
import { expect, test } from "vitest";
import { didYouMean, nearest } from "./nearest.js";

const KEYS = ["buffer.query.max_size", "buffer.query.default_order", "store.path", "role", "content"];

test.each([
  ["buffer.querry.max_size", "buffer.query.max_size"],
  ["BUFFER.QUERY.MAX_SIZE", "buffer.query.max_size"],
  ["max_size", "buffer.query.max_size"],
  ["query.max_size", "buffer.query.max_size"],
  ["path", "store.path"],
  ["message.role", "role"],
  ["rol", "role"],
  ["contnet", "content"],
  ["xyz", undefined],
  ["", undefined],
  ["th", undefined],
])("%j is nearest to %j", (typed, right) => expect(nearest(typed, KEYS)).toBe(right));

test("a name is nearest to itself", () => {
  fc.assert(fc.property(fc.constantFrom(...KEYS), (key) => nearest(key, KEYS) === key));
});

test("of a key of a million characters only the first hundred are compared", () => {
  expect(nearest("q".repeat(1_000_000), KEYS)).toBeUndefined();
  const long = "a".repeat(100);
  expect(nearest(long + "b".repeat(1_000_000), [long])).toBe(long);
});

test("says nothing when nothing is near", () => {
  expect(didYouMean("rol", KEYS)).toBe("; did you mean role?");
  expect(didYouMean("xyz", KEYS)).toBe("");
});

test("a name of another memory gets a suggestion that no distance of letters would find", () => {
  expect(nearest("limit", ["topK", "offset", "sortBy"])).toBe("topK");
  expect(nearest("top_k", ["limit", "role", "to"])).toBe("limit");
  expect(nearest("text", ["role", "content"])).toBe("content");
  expect(nearest("limit", ["topK", "limits"])).toBe("topK");
  expect(nearest("limit", ["topK", "limit"])).toBe("limit");
});
