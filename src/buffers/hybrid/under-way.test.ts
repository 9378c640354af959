import { describe, expect, it } from "vitest";
import { Drafts } from "../../retrieval/chunks/chunks.js";
import { chunkStrategy } from "../../retrieval/chunks/strategy.js";
import type { PendingItem } from "../../stores/indexing.js";
import { UnderWay, type Verdict } from "./under-way.js";
import { Work } from "./work.js";

const lane = { space: { user: "ada" }, session: "s" };

function pending(key: number, content = "hello"): PendingItem {
  return { key, lane, id: `m${key}`, version: 1, content, recordedAt: 0 };
}

const workOf = (item: PendingItem): Work => new Work(item, new Drafts(chunkStrategy("message"), { item, earlier: [] }));

/** A run that ends when the test says so, or when it is aborted. */
function run(underWay: UnderWay, items: readonly PendingItem[]) {
  const works = items.map(workOf);
  let end = (): void => {};
  let lateFor: Verdict = () => undefined;
  const ended = underWay.run(new AbortController().signal, [], async (run) => {
    lateFor = run.lateFor;
    run.embeds(works);
    await new Promise<void>((resolve, reject) => {
      end = resolve;
      run.signal.addEventListener("abort", () => reject(run.signal.reason));
    });
  });
  return { end: () => end(), ended, works, lateFor: (item: PendingItem) => lateFor({ ...item, borrowed: [] }) };
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
    const items = [pending(1), pending(2), pending(3)];
    const { end, ended, lateFor, works } = run(underWay, items);
    expect(underWay.forget(({ id }) => id === "m1", "again")).toEqual([works[0]]);
    expect(underWay.forget(({ id }) => id === "m1" || id === "m2", "gone")).toEqual([works[1]]);
    expect(items.map(lateFor)).toEqual(["gone", "gone", undefined]);
    expect(works.map(({ isOver }) => isOver)).toEqual([true, true, false]);
    end();
    await ended;
  });

  it("is aborted when nothing of it is wanted any more", async () => {
    const underWay = new UnderWay();
    const { ended } = run(underWay, [pending(1), pending(2)]);
    underWay.forget(({ id }) => id === "m1", "again");
    expect(underWay.of(pending(2))).toBeDefined();
    underWay.forget(({ id }) => id === "m2", "gone");
    await ended;
    expect(underWay.of(pending(2))).toBeUndefined();
  });

  it("that fails is over as well", async () => {
    const underWay = new UnderWay();
    const failing = underWay.run(new AbortController().signal, [pending(1)], () => Promise.reject(new Error("down")));
    expect(underWay.of(pending(1))).toBeDefined();
    await expect(failing).rejects.toThrow("down");
    expect(underWay.of(pending(1))).toBeUndefined();
  });
});
