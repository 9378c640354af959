/** Calls: when something is loaded, the order of calls, aborted calls, and a closed embedder. */
import { expect } from "vitest";
import type { CheckEmbedder } from "../embedder-conformance.js";

export function calls(check: CheckEmbedder, queues: boolean): void {
  check("loads and requests nothing before the first call", async ({ embedder, isUsed }) => {
    expect(embedder.model).not.toBe("");
    expect(isUsed()).toBe(false);
    const { space } = await embedder.describe();
    expect(space.model).toBe(embedder.model);
    expect(isUsed()).toBe(true);
  });

  check("closes without having loaded or requested anything", async ({ embedder, isUsed }) => {
    await embedder.close();
    expect(isUsed()).toBe(false);
  });

  check("describes itself the same way every time, even to concurrent callers", async ({ embedder }) => {
    const [one, other] = await Promise.all([embedder.describe(), embedder.describe()]);
    expect(other).toEqual(one);
    await embedder.embed(["one"]);
    expect(await embedder.describe()).toEqual(one);
  });

  check("embeds and counts without having been described", async ({ embedder }) => {
    const [vectors, counts] = await Promise.all([embedder.embed(["one"]), embedder.countTokens(["one", "two"])]);
    expect(vectors).toHaveLength(1);
    expect(counts).toHaveLength(2);
  });

  check("rejects a call whose signal was already aborted, with the signal's reason", async ({ embedder }) => {
    const reason = new Error("too late");
    await expect(embedder.embed(["one"], { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    await expect(embedder.embed([], { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(await embedder.embed(["one"])).toHaveLength(1);
  });

  check("rejects a call that is aborted while it runs or waits, and no other", async ({ embedder }) => {
    await embedder.describe();
    const controller = new AbortController();
    const reason = new Error("changed my mind");
    const texts = Array.from({ length: 50 }, (_, at) => `text number ${at}`);
    const before = embedder.embed(["before"]);
    const aborted = embedder.embed(texts, { signal: controller.signal });
    const after = embedder.embed(["after"]);
    controller.abort(reason);
    await expect(aborted).rejects.toBe(reason);
    expect([(await before).length, (await after).length]).toEqual([1, 1]);
  });

  check("ignores an abort after the answer", async ({ embedder }) => {
    const controller = new AbortController();
    expect(await embedder.embed(["one"], { signal: controller.signal })).toHaveLength(1);
    controller.abort();
    expect(await embedder.embed(["two"])).toHaveLength(1);
  });

  if (queues) {
    check("lets an urgent call overtake queued calls", async ({ embedder }) => {
      await embedder.describe();
      const done: string[] = [];
      const queued = Array.from({ length: 40 }, (_, at) =>
        embedder.embed([`queued text ${at}`, `and another one ${at}`]).then(() => done.push("queued")),
      );
      const urgent = embedder.embed(["somebody waits"], { urgent: true }).then(() => done.push("urgent"));
      await Promise.all([...queued, urgent]);
      expect(done.indexOf("urgent")).toBeLessThan(done.lastIndexOf("queued") / 2);
    });
  }

  check("refuses every call after close, and can be closed twice", async ({ embedder }) => {
    await embedder.embed(["one"]);
    await embedder.close();
    await embedder.close();
    for (const call of [
      () => embedder.embed(["one"]),
      () => embedder.embed([]),
      () => embedder.countTokens(["one"]),
      () => embedder.describe(),
    ]) {
      await expect(call()).rejects.toMatchObject({ code: "closed" });
    }
  });

  check("leaves no call unanswered on close", async ({ embedder }) => {
    await embedder.describe();
    const texts = Array.from({ length: 30 }, (_, at) => `text number ${at}`);
    const waiting = [embedder.embed(texts), embedder.embed(texts), embedder.countTokens(texts)];
    const outcomes = Promise.allSettled(waiting);
    await embedder.close();
    for (const outcome of await outcomes) {
      if (outcome.status === "fulfilled") expect(outcome.value).toHaveLength(texts.length);
      else expect(outcome.reason).toMatchObject({ code: "closed" });
    }
  });
}
