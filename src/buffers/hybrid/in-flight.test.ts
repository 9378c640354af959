import { describe, expect, it } from "vitest";
import { Drafts } from "../../retrieval/chunks/chunks.js";
import { chunkStrategy } from "../../retrieval/chunks/strategy.js";
import type { PendingItem } from "../../stores/indexing.js";
import { InFlight, type Verdict } from "./in-flight.js";
import { Work } from "./work.js";

const lane = { space: { user: "ada" }, session: "s" };

function pending(key: number, content = "hello"): PendingItem {
  return { key, lane, id: `m${key}`, version: 1, content, recordedAt: 0 };
}

const workOf = (item: PendingItem): Work => new Work(item, new Drafts(chunkStrategy("message"), { item, earlier: [] }));

/** A run that ends when the test says so, or when it is aborted. */
function run(inFlight: InFlight, items: readonly PendingItem[]) {
  const works = items.map(workOf);
  let end = (): void => {};
  let lateFor: Verdict = () => undefined;
  const ended = inFlight.run(new AbortController().signal, [], async (run) => {
    lateFor = run.lateFor;
    run.embeds(works);
    await new Promise<void>((resolve, reject) => {
      end = resolve;
      run.signal.addEventListener("abort", () => reject(run.signal.reason));
    });
  });
  return { end: () => end(), ended, works, lateFor: (item: PendingItem) => lateFor({ ...item, borrowed: [] }) };
}

describe("an embedding in flight", () => {
  it("can be awaited until it is done", async () => {
    const inFlight = new InFlight();
    const { end, ended } = run(inFlight, [pending(1)]);
    expect(inFlight.of(pending(1))).toBeDefined();
    expect(inFlight.of(pending(2))).toBeUndefined();
    end();
    await ended;
    expect(inFlight.of(pending(1))).toBeUndefined();
  });

  it("cannot be awaited in a large batch of many messages or of one long message", async () => {
    const inFlight = new InFlight();
    const many = run(
      inFlight,
      Array.from({ length: 17 }, (_, key) => pending(key)),
    );
    const long = run(inFlight, [pending(20), pending(21, "word ".repeat(1_000))]);
    for (const key of [0, 20, 21]) expect(inFlight.of(pending(key))).toBeUndefined();
    for (const { end, ended } of [many, long]) {
      end();
      await ended;
    }
  });

  it("is outdated for items that were edited or forgotten meanwhile, and only for these", async () => {
    const inFlight = new InFlight();
    const items = [pending(1), pending(2), pending(3)];
    const { end, ended, lateFor, works } = run(inFlight, items);
    expect(inFlight.forget(({ id }) => id === "m1", "again")).toEqual([works[0]]);
    expect(inFlight.forget(({ id }) => id === "m1" || id === "m2", "gone")).toEqual([works[1]]);
    expect(items.map(lateFor)).toEqual(["gone", "gone", undefined]);
    expect(works.map(({ isOver }) => isOver)).toEqual([true, true, false]);
    end();
    await ended;
  });

  it("is aborted once all its items are outdated", async () => {
    const inFlight = new InFlight();
    const { ended } = run(inFlight, [pending(1), pending(2)]);
    inFlight.forget(({ id }) => id === "m1", "again");
    expect(inFlight.of(pending(2))).toBeDefined();
    inFlight.forget(({ id }) => id === "m2", "gone");
    await ended;
    expect(inFlight.of(pending(2))).toBeUndefined();
  });

  it("ends when it fails", async () => {
    const inFlight = new InFlight();
    const failing = inFlight.run(new AbortController().signal, [pending(1)], () => Promise.reject(new Error("down")));
    expect(inFlight.of(pending(1))).toBeDefined();
    await expect(failing).rejects.toThrow("down");
    expect(inFlight.of(pending(1))).toBeUndefined();
  });
});
