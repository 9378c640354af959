import { describe, expect, it } from "vitest";
import { HoldfastError } from "../errors.js";
import { FakeClock } from "../testing/fake-clock.js";
import { HashEmbedder } from "../testing/hash-embedder.js";
import type { Embedder } from "./embedder.js";
import { GuardedEmbedder, type GuardOptions } from "./guarded.js";

function guarded(options: GuardOptions = {}): { clock: FakeClock; inner: HashEmbedder; guard: GuardedEmbedder } {
  const clock = new FakeClock();
  const inner = new HashEmbedder({ dimensions: 8 });
  return { clock, inner, guard: new GuardedEmbedder(inner, { clock, ...options }) };
}

/** Lets everything happen that needs no time. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The outcome of a call; time passes for as long as the call is pending. */
async function outcomeOf<T>(clock: FakeClock, call: Promise<T>): Promise<PromiseSettledResult<T>> {
  let isOver = false;
  const over = Promise.allSettled([call]).then(([outcome]) => {
    isOver = true;
    return outcome;
  });
  for (await settle(); !isOver; await settle()) clock.advance(100);
  return over;
}

async function openCircuit({ clock, inner, guard }: ReturnType<typeof guarded>): Promise<void> {
  inner.failNext(5);
  for (let call = 0; call < 5; call++) await outcomeOf(clock, guard.embed(["x"], { urgent: true }));
  expect(guard.status().circuit).toBe("open");
}

describe("a guarded embedder", () => {
  it("passes on the embedder's answers", async () => {
    const { inner, guard } = guarded();
    expect(guard.model).toBe(inner.model);
    expect(await guard.describe()).toEqual(await inner.describe());
    expect(await guard.countTokens(["one two"])).toEqual([4]);
    expect(await guard.embed(["one", "two"])).toEqual(await inner.embed(["one", "two"]));
    expect(await guard.embed([])).toEqual([]);
    expect(guard.status()).toMatchObject({ circuit: "closed", failures: 0, calls: 1, texts: 2, failedCalls: 0 });
  });

  const SPACE = { model: "hash-of-words", runtime: "test", dimensions: 8 };
  it.each([
    ["nothing", undefined],
    ["no vector space", { tokensMax: 256 }],
    ["another model than the embedder's", { space: { ...SPACE, model: "another" }, tokensMax: 256 }],
    ["no runtime", { space: { ...SPACE, runtime: undefined }, tokensMax: 256 }],
    ["a runtime that no file can keep", { space: { ...SPACE, runtime: "a\ud800" }, tokensMax: 256 }],
    ["no dimensions", { space: { ...SPACE, dimensions: undefined }, tokensMax: 256 }],
    ["dimensions that are no number", { space: { ...SPACE, dimensions: "8" }, tokensMax: 256 }],
    ["zero dimensions", { space: { ...SPACE, dimensions: 0 }, tokensMax: 256 }],
    ["no tokensMax", { space: SPACE }],
    ["a tokensMax of NaN", { space: SPACE, tokensMax: Number.NaN }],
    ["negative sliceBytes", { space: SPACE, tokensMax: 256, sliceBytes: -1 }],
  ])("refuses a description with %s, and asks again later", async (_, description) => {
    const { clock, inner, guard } = guarded({ retriesMax: 0 });
    const described = await inner.describe();
    inner.describe = async () => description as never;
    const refused = { code: "embedder_failed", hint: expect.stringContaining("describe() must answer with") };
    await expect(guard.describe()).rejects.toMatchObject(refused);
    await expect(guard.embed(["one"], { urgent: true })).rejects.toMatchObject(refused);
    inner.describe = async () => described;
    expect(await outcomeOf(clock, guard.describe())).toMatchObject({ value: described });
  });

  it("retries twice after a failure, with a growing delay", async () => {
    const { clock, inner, guard } = guarded();
    inner.failNext(2);
    const call = guard.embed(["one"]);
    await settle();
    expect(inner.calls).toBe(1);
    expect(guard.status()).toMatchObject({ failures: 1, lastError: expect.stringContaining("told to fail") });
    clock.advance(99);
    await settle();
    expect(inner.calls).toBe(1);
    clock.advance(101);
    await settle();
    expect(inner.calls).toBe(2);
    clock.advance(199);
    await settle();
    expect(inner.calls).toBe(2);
    clock.advance(201);
    expect(await call).toHaveLength(1);
    expect(guard.status()).toMatchObject({ failures: 0, calls: 1, failedCalls: 0 });
    expect(guard.status().lastError).toBeUndefined();
  });

  it("gives up with the embedder's own error", async () => {
    const { clock, inner, guard } = guarded();
    inner.failNext(3);
    const outcome = await outcomeOf(clock, guard.embed(["one"]));
    expect(outcome).toMatchObject({ reason: { code: "embedder_failed", message: expect.stringContaining("told to") } });
    expect(inner.calls).toBe(3);
    expect(guard.status()).toMatchObject({ calls: 1, failedCalls: 1, failures: 3, texts: 0 });
  });

  it("waits for as long as the embedder asks, up to ten seconds", async () => {
    for (const [asked, waits] of [
      [3_000, 3_000],
      [3_600_000, 10_000],
    ] as const) {
      const { clock, inner, guard } = guarded();
      inner.failNext(1, new HoldfastError("embedder_failed", "slow down", { details: { retryAfterMs: asked } }));
      const call = guard.embed(["one"]);
      await settle();
      clock.advance(waits - 1);
      await settle();
      expect(inner.calls).toBe(1);
      clock.advance(1);
      expect(await call).toHaveLength(1);
    }
  });

  it("does not repeat an urgent call", async () => {
    const { clock, inner, guard } = guarded();
    inner.failNext(1);
    await expect(guard.embed(["one"], { urgent: true })).rejects.toMatchObject({ code: "embedder_failed" });
    expect(inner.calls).toBe(1);
    expect(clock.pending).toBe(0);
  });

  it("neither repeats nor counts a refused text", async () => {
    const { inner, guard } = guarded();
    inner.refuse((text) => text === "bad");
    for (let call = 0; call < 6; call++) {
      await expect(guard.embed(["good", "bad"])).rejects.toMatchObject({ code: "text_refused", details: { index: 1 } });
    }
    expect(inner.calls).toBe(6);
    expect(guard.status()).toMatchObject({ circuit: "closed", failures: 0, failedCalls: 0, calls: 6, texts: 0 });
  });

  it("ends an attempt that takes too long, and aborts its signal", async () => {
    const { clock, inner, guard } = guarded({ timeoutMs: 1_000 });
    const release = inner.stall();
    const call = guard.embed(["one"], { urgent: true });
    await settle();
    expect(inner.waiting).toBe(1);
    clock.advance(1_000);
    await expect(call).rejects.toMatchObject({ code: "embedder_failed", message: expect.stringContaining("1000 ms") });
    expect(inner.waiting).toBe(0);
    release();
  });

  it("treats an unknown error as a failure", async () => {
    const { inner, guard } = guarded();
    const cause = new TypeError("the text of somebody");
    inner.failNext(1, cause);
    const failed = guard.embed(["one"], { urgent: true });
    await expect(failed).rejects.toMatchObject({ code: "embedder_failed", cause });
    expect(guard.status().lastError).not.toContain("somebody");
  });

  it("retries a description that fails, and caches one that succeeds", async () => {
    const { clock, inner, guard } = guarded();
    inner.failDescribe(2);
    expect(await outcomeOf(clock, guard.describe())).toMatchObject({ value: { space: { dimensions: 8 } } });
    await guard.describe();
    await guard.embed(["one"]);
    expect(inner.descriptions).toBe(3);
  });
});

describe("the circuit of a guarded embedder", () => {
  it("opens after five consecutive failures: calls fail at once, without calling the embedder", async () => {
    const parts = guarded();
    await openCircuit(parts);
    const { clock, inner, guard } = parts;
    for (const urgent of [true, false]) {
      await expect(guard.embed(["one"], { urgent })).rejects.toMatchObject({
        code: "embedder_failed",
        message: expect.stringContaining("told to fail"),
        details: { circuit: "open", retryAtMs: guard.status().retryAtMs },
      });
    }
    expect(guard.status()).toMatchObject({ failures: 5, calls: 7, failedCalls: 7 });
    expect(guard.status().retryAtMs).toBeGreaterThan(clock.now());
    expect(inner.calls).toBe(5);
  });

  it("admits a probe when its time is over, and closes if that succeeds", async () => {
    const parts = guarded();
    await openCircuit(parts);
    const { clock, inner, guard } = parts;
    const available = guard.whenAvailable();
    clock.advance(10_000);
    await available;
    const release = inner.stall();
    const probe = guard.embed(["probe"]);
    await settle();
    await expect(guard.embed(["other"])).rejects.toMatchObject({ details: { circuit: "half-open" } });
    release();
    await probe;
    expect(guard.status()).toMatchObject({ circuit: "closed", failures: 0 });
  });

  it("opens again if the probe fails, without repeating it", async () => {
    const parts = guarded();
    await openCircuit(parts);
    const { clock, inner, guard } = parts;
    clock.advance(10_000);
    inner.failNext(1);
    await expect(guard.embed(["probe"])).rejects.toMatchObject({ code: "embedder_failed" });
    expect(guard.status()).toMatchObject({ circuit: "open", retryAtMs: clock.now() + 20_000 });
  });

  it("stays half-open when the probe is refused or aborted", async () => {
    const parts = guarded();
    await openCircuit(parts);
    const { clock, inner, guard } = parts;
    clock.advance(10_000);
    inner.refuse(() => true);
    await expect(guard.embed(["probe"])).rejects.toMatchObject({ code: "text_refused" });
    inner.refuse(() => false);
    inner.stall();
    const controller = new AbortController();
    const aborted = guard.embed(["probe"], { signal: controller.signal });
    const available = guard.whenAvailable();
    controller.abort(new Error("enough"));
    await expect(aborted).rejects.toThrow("enough");
    await available;
    expect(guard.status().circuit).toBe("half-open");
  });
});

describe("the answers of a guarded embedder", () => {
  it("are refused if the dimensions are not those of the description", async () => {
    const { inner, guard } = guarded();
    await guard.describe();
    inner.dimensions = 512;
    await expect(guard.embed(["one"], { urgent: true })).rejects.toMatchObject({
      code: "embedder_failed",
      message: "wrong dimensions: expected 8, got 512",
    });
  });

  it.each([
    ["too few vectors", [Float32Array.of(1, 0)], "wrong number of vectors: expected 2, got 1"],
    ["NaN", [Float32Array.of(1, 0), Float32Array.of(Number.NaN, 0)], "finite"],
    ["infinity", [Float32Array.of(1, 0), Float32Array.of(0, Number.POSITIVE_INFINITY)], "finite"],
    ["a list of numbers", [Float32Array.of(1, 0), [1, 0] as never], "no Float32Array"],
    ["numbers of another precision", [Float64Array.of(1, 0) as never, Float32Array.of(1, 0)], "no Float32Array"],
    ["nothing for a text", [Float32Array.of(1, 0), undefined as never], "no Float32Array"],
    ["a vector of zeros", [Float32Array.of(1, 0), Float32Array.of(0, 0)], "a vector of zeros"],
  ])("are refused with %s", async (_, vectors, message) => {
    await expect(answering(vectors).embed(["one", "two"], { urgent: true })).rejects.toMatchObject({
      code: "embedder_failed",
      message: expect.stringContaining(message),
    });
  });

  it("are scaled to length 1", async () => {
    const vectors = [Float32Array.of(3, 4), Float32Array.of(0.004, 0)];
    const scaled = [Float32Array.of(3 / 5, 4 / 5), Float32Array.of(1, 0)];
    expect(await answering(vectors).embed(["one", "two"])).toEqual(scaled);
    expect(vectors[0], "the embedder's own").toEqual(Float32Array.of(3, 4));
  });

  function answering(vectors: readonly Float32Array[]): GuardedEmbedder {
    const inner: Embedder = {
      model: "broken",
      describe: async () => ({ space: { model: "broken", runtime: "test", dimensions: 2 }, tokensMax: 10 }),
      countTokens: async (texts) => texts.map(() => 1),
      embed: async () => vectors,
      close: async () => {},
    };
    return new GuardedEmbedder(inner, { clock: new FakeClock() });
  }
});

describe("a guarded embedder's caller", () => {
  it("can abort while it waits for the embedder, and while it waits to try again", async () => {
    const { clock, inner, guard } = guarded();
    const controller = new AbortController();
    const release = inner.stall();
    const [running, other] = [guard.embed(["one"], { signal: controller.signal }), guard.embed(["two"])];
    await settle();
    controller.abort(new Error("enough"));
    await expect(running).rejects.toThrow("enough");
    release();
    expect(await other).toHaveLength(1);

    inner.failNext(1);
    const later = new AbortController();
    const pausing = guard.embed(["one"], { signal: later.signal });
    await settle();
    later.abort(new Error("enough of that, too"));
    await expect(pausing).rejects.toThrow("enough of that, too");
    await expect(guard.embed(["one"], { signal: later.signal })).rejects.toThrow("enough of that, too");
    expect(clock.pending).toBe(0);
    expect(inner.calls).toBe(3);
  });

  it("can abort at any moment, even between a failure and the delay after it", async () => {
    const reason = new Error("enough");
    for (let moment = 0; moment < 30; moment++) {
      const { clock, inner, guard } = guarded();
      const controller = new AbortController();
      const abortAfter = (turns: number): void =>
        turns === 0 ? controller.abort(reason) : queueMicrotask(() => abortAfter(turns - 1));
      inner.failNext(Number.POSITIVE_INFINITY);
      const call = guard.embed(["one"], { signal: controller.signal });
      const outcome = Promise.race([call.catch((error: unknown) => error), settle().then(() => "waits")]);
      abortAfter(moment);
      expect(await outcome).toBe(reason);
      expect(clock.pending).toBe(0);
    }
  });

  it("gets an error on close in every state, and no timer is left", async () => {
    const parts = guarded();
    const { clock, inner, guard } = parts;
    inner.failNext(1);
    const pausing = guard.embed(["pausing"]);
    await settle();
    inner.stall();
    const running = guard.embed(["running"]);
    await settle();
    const closing = guard.close();
    await expect(pausing).rejects.toMatchObject({ code: "closed" });
    await expect(running).rejects.toMatchObject({ code: "closed" });
    await closing;
    for (const call of [guard.embed(["x"]), guard.describe(), guard.countTokens(["x"]), inner.embed(["x"])]) {
      await expect(call).rejects.toMatchObject({ code: "closed" });
    }
    await guard.whenAvailable();
    await guard.close();
    expect(clock.pending).toBe(0);
  });

  it("gets it at any moment, even between a failure and the delay after it", async () => {
    for (let moment = 0; moment < 30; moment++) {
      const { clock, inner, guard } = guarded();
      const closeAfter = (turns: number): void =>
        turns === 0 ? void guard.close() : queueMicrotask(() => closeAfter(turns - 1));
      inner.failNext(Number.POSITIVE_INFINITY);
      const call = guard.embed(["one"]);
      const outcome = Promise.race([call.catch((error: unknown) => error), settle().then(() => "waits")]);
      closeAfter(moment);
      expect(await outcome).toMatchObject({ code: "closed" });
      expect(clock.pending).toBe(0);
    }
  });

  it("does not wait for an open circuit for ever: close wakes it", async () => {
    const parts = guarded();
    await openCircuit(parts);
    const waiting = parts.guard.whenAvailable();
    await parts.guard.close();
    await waiting;
    expect(parts.clock.pending).toBe(0);
  });
});
