import { expect, test } from "vitest";
import { chunkId } from "./id.js";

test("a chunk's id is the same on every machine", () => {
  expect(chunkId("space", 7, 0)).toBe("6bb3f2b0-42dc-8d7c-b86a-aec76c099b62");
});

test("a chunk's id is a UUID of version 8", () => {
  for (let part = 0; part < 64; part++) {
    expect(chunkId("space", 7, part)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  }
});

test("space, item and part all count, and are not confused", () => {
  const ids = [
    chunkId("a", 1, 11),
    chunkId("a", 11, 1),
    chunkId("a1", 1, 1),
    chunkId("b", 1, 11),
    chunkId('a",1', 1, 1),
  ];
  expect(new Set(ids).size).toBe(ids.length);
});
