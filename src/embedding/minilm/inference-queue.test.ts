import { describe, expect, it } from "vitest";
import { InferenceQueue } from "./inference-queue.js";

/** A queue whose model computes [2 × the token] and records it; a test may act before each text. */
function queueOf(before: (token: number, queue: InferenceQueue) => void = () => undefined): {
  queue: InferenceQueue;
  computed: number[];
} {
  const computed: number[] = [];
  const queue: InferenceQueue = new InferenceQueue(
    async ([token = Number.NaN]) => {
      before(token, queue);
      computed.push(token);
      if (token < 0) throw new Error("negative");
      return Float32Array.of(token * 2);
    },
    async () => undefined,
  );
  return { queue, computed };
}

const tokens = (...list: number[]): number[][] => list.map((token) => [token]);

describe("InferenceQueue", () => {
  it("computes calls in order of arrival, and answers each with its own vectors", async () => {
    const { queue, computed } = queueOf();
    const answers = await Promise.all([queue.add(1, tokens(1, 2), false), queue.add(2, tokens(3), false)]);
    expect(answers).toEqual([[Float32Array.of(2), Float32Array.of(4)], [Float32Array.of(6)]]);
    expect(computed).toEqual([1, 2, 3]);
  });

  it("computes an urgent call after the current text, in the middle of another call", async () => {
    const answers: Promise<unknown>[] = [];
    const { queue, computed } = queueOf((token, self) => {
      if (token === 2) answers.push(self.add(3, tokens(8), true), self.add(4, tokens(9), true));
    });
    answers.push(queue.add(1, tokens(1, 2, 3), false), queue.add(2, tokens(4), false));
    await Promise.all(answers);
    expect(await answers[0]).toEqual([Float32Array.of(2), Float32Array.of(4), Float32Array.of(6)]);
    expect(computed).toEqual([1, 2, 8, 9, 3, 4]);
  });

  it("does not compute the rest of a dropped call", async () => {
    const { queue, computed } = queueOf((token, self) => {
      if (token === 2) self.drop(1);
    });
    void queue.add(1, tokens(1, 2, 3), false);
    await queue.add(2, tokens(4), false);
    expect(computed).toEqual([1, 2, 4]);
  });

  it("fails the call whose text fails, and continues with the next", async () => {
    const { queue, computed } = queueOf();
    const failing = queue.add(1, tokens(1, -1, 2), false);
    const next = queue.add(2, tokens(3), false);
    await expect(failing).rejects.toThrow("negative");
    expect(await next).toEqual([Float32Array.of(6)]);
    expect(computed).toEqual([1, -1, 3]);
  });

  it("stops after the current text", async () => {
    const computed = await new Promise<number[]>((resolve, reject) => {
      const made = queueOf((token, self) => {
        if (token === 2) self.stop().then(() => resolve(made.computed), reject);
      });
      void made.queue.add(1, tokens(1, 2, 3), false);
      void made.queue.add(2, tokens(4), false);
    });
    expect(computed).toEqual([1, 2]);
  });

  it("works again after it was idle", async () => {
    const { queue, computed } = queueOf();
    await queue.add(1, tokens(1), false);
    await queue.add(2, tokens(2), false);
    expect(computed).toEqual([1, 2]);
  });
});
