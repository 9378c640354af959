import { expect, it } from "vitest";
import { KeySieve } from "./key-sieve.js";

it("a sieve has every key that was put into it, and few others", () => {
  const sieve = new KeySieve();
  const keys = Array.from({ length: 100 }, (_, at) => at * 81_930 + 7);
  for (const key of keys) sieve.add(key);
  expect(keys.every((key) => sieve.mayHave(key))).toBe(true);
  const others = Array.from({ length: 8_000 }, (_, at) => at * 3 + 1_000_000_000);
  expect(others.filter((key) => sieve.mayHave(key)).length).toBeLessThan(200);
});
