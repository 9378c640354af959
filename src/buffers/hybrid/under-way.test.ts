import { describe, expect, it } from "vitest";
import type { PendingItem } from "../../stores/indexing.js";
import { UnderWay } from "./under-way.js";
import type { CachedItem } from "./vector-cache.js";

const lane = { space: { user: "ada" }, session: "s" };

function pending(key: number, content = "hello"): PendingItem {
  return { key, lane, id: `m${key}`, version: 1, content, recordedAt: 0 };
}

function embedded(key: number): CachedItem {
  const rest = { round: 1, recordedAt: 0, spans: [], vectors: new Float32Array(), borrowed: [] };
  return { key, id: `m${key}`, version: 1, lane, ...rest };
}

/** A run that ends when the test says so. */
function run(underWay: UnderWay, items: readonly PendingItem[]) {
  let end = (): void => {};
  let lateFor: (item: CachedItem) => string | undefined = () => undefined;
  const ended = underWay.run(items, async (verdict) => {
    lateFor = verdict;
    await new Promise<void>((resolve) => {
      end = resolve;
    });
  });
  return { end: () => end(), ended, lateFor: (item: CachedItem) => lateFor(item) };
}

describe("what is being embedded", () => {
  it("can be waited for, until it is done", async () => {
    const underWay = new UnderWay();
    const { end, ended } = run(underWay, [pending(1)]);
    expect(underWay.of(pending(1))).toBeDefined();
    expect(underWay.of(pending(2))).toBeUndefined();
    end();
    await ended;
    expect(underWay.of(pending(1))).toBeUndefined();
  });

  it("is not waited for in a large batch, be it of many messages or of one long one", async () => {
    const underWay = new UnderWay();
    const many = run(
      underWay,
      Array.from({ length: 17 }, (_, key) => pending(key)),
    );
    const long = run(underWay, [pending(20), pending(21, "word ".repeat(1_000))]);
    for (const key of [0, 20, 21]) expect(underWay.of(pending(key))).toBeUndefined();
    for (const { end, ended } of [many, long]) {
      end();
      await ended;
    }
  });

  it("comes too late for what was edited or forgotten meanwhile, and for nothing else", async () => {
    const underWay = new UnderWay();
    const { end, ended, lateFor } = run(underWay, [pending(1), pending(2), pending(3)]);
    underWay.forget(({ id }) => id === "m1", "again");
    underWay.forget(({ id }) => id === "m1" || id === "m2", "gone");
    expect([1, 2, 3].map((key) => lateFor(embedded(key)))).toEqual(["gone", "gone", undefined]);
    end();
    await ended;
  });

  it("that fails is over as well", async () => {
    const underWay = new UnderWay();
    await expect(underWay.run([pending(1)], () => Promise.reject(new Error("down")))).rejects.toThrow("down");
    expect(underWay.of(pending(1))).toBeUndefined();
  });
});
