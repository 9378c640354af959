import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Block } from "../stores/blocks.js";
import { FakeClock } from "../testing/fake-clock.js";
import { type BlockChanges, BlockWatch } from "./block-watch.js";

const uri = (name: string): string => `memory://blocks/${name}`;
const block = (id: string, name: string, version = 1): Block => ({ id, name, version }) as Block;

/** A watch over blocks that a test can replace, and its reports. Polls can be held back. */
function watched(first: readonly Block[] = []) {
  const clock = new FakeClock();
  const told: BlockChanges[] = [];
  const failures: unknown[] = [];
  const state = { blocks: first, looks: 0, held: undefined as Promise<void> | undefined, error: undefined as unknown };
  const watch = new BlockWatch({
    blocks: async () => {
      state.looks++;
      const { blocks, error } = state;
      await state.held;
      if (error !== undefined) throw error;
      return blocks;
    },
    clock,
    changed: (changes) => told.push(changes),
    failed: (error) => failures.push(error),
  });
  /** Advances the clock and waits for the poll that it triggers. */
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await settled();
  };
  return { clock, told, failures, state, watch, pass };
}

/** Runs all pending promises. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("a watch over blocks", () => {
  it("does not poll before it is started, even on request", async () => {
    const { watch, state, clock } = watched([block("1", "a")]);
    await watch.look();
    expect([state.looks, clock.pending]).toEqual([0, 0]);
  });

  it("does not report blocks that existed when it started", async () => {
    const { watch, told, pass, state } = watched([block("1", "a")]);
    await watch.start();
    await pass(5_000);
    expect(state.looks).toBeGreaterThan(1);
    expect(told).toEqual([]);
  });

  it("reports every edit, creation and removal once, within a second", async () => {
    const { watch, told, pass, state } = watched([block("1", "a"), block("2", "b")]);
    await watch.start();
    state.blocks = [block("1", "a", 2), block("2", "b")];
    await pass(999);
    expect(told).toEqual([]);
    await pass(1);
    expect(told.splice(0)).toEqual([{ list: false, uris: [uri("a")] }]);
    state.blocks = [block("1", "a", 2), block("2", "b"), block("3", "c")];
    await pass(1_000);
    expect(told.splice(0)).toEqual([{ list: true, uris: [uri("c")] }]);
    state.blocks = [block("2", "b"), block("3", "c")];
    await pass(1_000);
    expect(told.splice(0)).toEqual([{ list: true, uris: [uri("a")] }]);
    await pass(10_000);
    expect(told).toEqual([]);
  });

  it("reports both addresses of a renamed block, and each address once", async () => {
    const { watch, told, pass, state } = watched([block("1", "a")]);
    await watch.start();
    state.blocks = [block("1", "b", 2)];
    await pass(1_000);
    expect(told.splice(0)).toEqual([{ list: true, uris: [uri("a"), uri("b")] }]);
    // Forgotten and created again under the same name.
    state.blocks = [block("2", "b")];
    await pass(1_000);
    expect(told).toEqual([{ list: true, uris: [uri("b")] }]);
  });

  it("reports the right address for any ids and names", async () => {
    const { watch, told, pass, state } = watched([block("an id", "a name")]);
    await watch.start();
    state.blocks = [block("an id", "a name", 2), block("an", "id a name")];
    await pass(1_000);
    expect(told).toEqual([{ list: true, uris: [uri("id%20a%20name"), uri("a%20name")] }]);
  });

  it("does not speak of blocks that have no address", async () => {
    const { watch, told, pass, state } = watched();
    await watch.start();
    state.blocks = [block("1", "."), block("2", "..")];
    await pass(1_000);
    expect(told).toEqual([]);
  });

  it("polls at once on request, and then a second later", async () => {
    const { watch, told, pass, state, clock } = watched();
    await watch.start();
    await pass(900);
    state.blocks = [block("1", "a")];
    await watch.look();
    expect(told).toHaveLength(1);
    const { looks } = state;
    await pass(900);
    expect(state.looks).toBe(looks);
    await pass(100);
    expect(state.looks).toBe(looks + 1);
    expect(clock.pending).toBe(1);
  });

  it("looks again after the look under way, which may have read too early", async () => {
    const { watch, told, state, clock } = watched();
    await watch.start();
    let release = (): void => {};
    state.held = new Promise((resolve) => {
      release = resolve;
    });
    const early = watch.look();
    await settled();
    state.blocks = [block("1", "a")];
    const late = watch.look();
    release();
    await early;
    expect(told).toEqual([]);
    await late;
    expect(told).toEqual([{ list: true, uris: [uri("a")] }]);
    await settled();
    expect(clock.pending).toBe(1);
  });

  it("continues after a failed poll, and then reports what it missed", async () => {
    const { watch, told, failures, pass, state } = watched([block("1", "a")]);
    await watch.start();
    state.error = new Error("no file");
    state.blocks = [block("1", "a", 2)];
    await pass(1_000);
    expect(failures).toHaveLength(1);
    expect(told).toEqual([]);
    state.error = undefined;
    await pass(1_000);
    expect(told).toEqual([{ list: false, uris: [uri("a")] }]);
  });

  it("does not repeat a failure, and looks ever less often, until a look succeeds", async () => {
    vi.spyOn(Math, "random").mockReturnValue(1); // the longest wait of each back-off
    onTestFinished(() => void vi.restoreAllMocks());
    const { watch, failures, pass, state } = watched();
    await watch.start();
    state.error = new Error("no server");
    await pass(1_000);
    for (const wait of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
      const { looks } = state;
      await pass(wait - 1);
      expect(state.looks).toBe(looks);
      await pass(1);
      expect(state.looks).toBe(looks + 1);
    }
    expect(failures).toHaveLength(1);
    state.error = undefined;
    await pass(30_000);
    const { looks } = state;
    state.error = new Error("no server again");
    await pass(1_000);
    expect(state.looks).toBe(looks + 1);
    expect(failures).toHaveLength(2);
  });

  it("takes one look for all that ask while one is under way", async () => {
    const { watch, told, state, clock } = watched();
    await watch.start();
    let release = (): void => {};
    state.held = new Promise((resolve) => {
      release = resolve;
    });
    void watch.look();
    await settled();
    const { looks } = state;
    state.blocks = [block("1", "a")];
    const asked = Array.from({ length: 300 }, () => watch.look());
    release();
    await Promise.all(asked);
    expect(state.looks).toBe(looks + 1);
    expect(told).toEqual([{ list: true, uris: [uri("a")] }]);
    expect(clock.pending).toBe(1);
  });

  it("starts although the first look failed: the first that succeeds counts as the first", async () => {
    const { watch, told, failures, pass, state } = watched([block("1", "a")]);
    state.error = new Error("no file");
    await watch.start();
    state.error = undefined;
    await pass(1_000);
    state.blocks = [block("1", "a", 2)];
    await pass(1_000);
    expect(failures).toHaveLength(1);
    expect(told).toEqual([{ list: false, uris: [uri("a")] }]);
  });

  it("is started once: a second start waits for the first look", async () => {
    const { watch, state, clock } = watched();
    await Promise.all([watch.start(), watch.start()]);
    await watch.start();
    expect([state.looks, clock.pending]).toEqual([1, 1]);
  });

  it("is silent after a stop, also about a look that was under way", async () => {
    const { watch, told, pass, state, clock } = watched();
    await watch.start();
    let release = (): void => {};
    state.held = new Promise((resolve) => {
      release = resolve;
    });
    state.blocks = [block("1", "a")];
    const looking = watch.look();
    watch.stop();
    release();
    await looking;
    await settled();
    expect(clock.pending).toBe(0);
    const { looks } = state;
    await pass(10_000);
    expect(state.looks).toBe(looks);
    expect(told).toEqual([]);
  });

  it("does not report a look that fails after a stop, nor takes one that was waiting", async () => {
    const { watch, failures, state, clock } = watched();
    await watch.start();
    let release = (): void => {};
    state.held = new Promise((resolve) => {
      release = resolve;
    });
    state.error = new Error("the memory is closed");
    void watch.look();
    await settled();
    const { looks } = state;
    const waiting = watch.look();
    watch.stop();
    release();
    await waiting;
    expect([state.looks, clock.pending]).toEqual([looks, 0]);
    expect(failures).toEqual([]);
  });

  it("does not compare with a look from before a stop", async () => {
    const { watch, told, state } = watched([block("1", "a")]);
    let release = (): void => {};
    state.held = new Promise((resolve) => {
      release = resolve;
    });
    void watch.start();
    await settled();
    watch.stop();
    state.blocks = [block("1", "a", 2)];
    const started = watch.start();
    release();
    await started;
    expect(told).toEqual([]);
  });

  it("does not report changes between a stop and the next start", async () => {
    const { watch, told, pass, state } = watched([block("1", "a")]);
    await watch.start();
    watch.stop();
    state.blocks = [block("1", "a", 2)];
    await watch.start();
    await pass(1_000);
    expect(told).toEqual([]);
    state.blocks = [block("1", "a", 3)];
    await pass(1_000);
    expect(told).toEqual([{ list: false, uris: [uri("a")] }]);
  });
});
