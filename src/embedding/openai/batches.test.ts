import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { batchesOf, halvesOf } from "./batches.js";

const bytesOf = (texts: readonly string[]): number => Buffer.byteLength(texts.join(""));

describe("batches", () => {
  it("contain every text once, in order, within the limits unless one text alone exceeds them", () => {
    const texts = fc.array(fc.string({ unit: "grapheme", maxLength: 12 }), { maxLength: 40 });
    const limit = fc.integer({ min: 1, max: 30 });
    fc.assert(
      fc.property(texts, limit, limit, (texts, batchSize, batchBytes) => {
        const batches = batchesOf(texts, { batchSize, batchBytes });
        expect(batches.flatMap((batch) => batch.texts)).toEqual(texts);
        let offset = 0;
        for (const batch of batches) {
          expect(batch.offset).toBe(offset);
          offset += batch.texts.length;
          expect(batch.texts.length).toBeGreaterThan(0);
          expect(batch.texts.length).toBeLessThanOrEqual(batchSize);
          if (batch.texts.length > 1) expect(bytesOf(batch.texts)).toBeLessThanOrEqual(batchBytes);
        }
        for (const [at, { texts: ours }] of batches.entries()) {
          const next = batches[at + 1]?.texts[0];
          const isFull = ours.length === batchSize || bytesOf([...ours, next ?? ""]) > batchBytes;
          expect(next === undefined || isFull).toBe(true);
        }
      }),
    );
  });

  it("are halved without losing a text", () => {
    const [left, right] = halvesOf({ texts: ["a", "b", "c"], offset: 7 });
    expect(left).toEqual({ texts: ["a"], offset: 7 });
    expect(right).toEqual({ texts: ["b", "c"], offset: 8 });
  });
});
