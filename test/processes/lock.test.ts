/** Another program holds the file's write lock: this process goes on, and what it was given is written or refused. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { inFolder } from "../support/folder.js";
import { unsoundness } from "../support/raw.js";
import { type PeerProcess, withPeers } from "./peer-process.js";

const scope = { user: "ada", session: "monday" };
const HELD_MS = 2_000;
const ADDS = 150;
const EVERY_MS = 10;
/** The event loop may stand still for so long at most. */
const STILL_MS = 50;
/** A busy machine may keep any process from running; a driver that waits for the lock does so every time. */
const ATTEMPTS = 3;

const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** One process that holds the lock, and one that adds. */
function withLock(busyTimeoutMs: number, work: (files: Locked) => Promise<void>): Promise<void> {
  return inFolder((folder) =>
    withPeers(2, async ([adder, holder]) => {
      const path = join(folder, "memory.db");
      await adder?.call("open", { path, store: { busyTimeoutMs } });
      await holder?.call("lock", path);
      await work({ adder: adder as PeerProcess, holder: holder as PeerProcess });
      expect(unsoundness(path)).toEqual([]);
    }),
  );
}

interface Locked {
  readonly adder: PeerProcess;
  readonly holder: PeerProcess;
}

describe("a write lock held by another process", () => {
  it("holds up adds, not the event loop, and loses none of them", async () => {
    const stills: number[] = [];
    for (let attempt = 1; attempt <= ATTEMPTS && !stills.some((ms) => ms < STILL_MS); attempt++) {
      await withLock(60_000, async ({ adder, holder }) => {
        const adding = adder.call("addSteadily", scope, ADDS, EVERY_MS);
        await after(HELD_MS);
        expect(await adder.call("list", scope)).toEqual([]); // reads do not wait
        const heldUntil = await holder.call("unlock");
        const { answeredAt, sequences, maxMs, p99Ms } = await adding;
        console.log(
          `event loop with the lock held for ${HELD_MS} ms: p99 ${p99Ms.toFixed(1)} ms, max ${maxMs.toFixed(1)} ms`,
        );
        stills.push(maxMs);
        expect(Math.min(...answeredAt)).toBeGreaterThanOrEqual(heldUntil);
        expect(sequences).toEqual(Array.from({ length: ADDS }, (_, at) => at + 1));
        const items = await adder.call("list", scope);
        expect(items.map(({ content }) => content)).toEqual(sequences.map((_, at) => `steady ${at}`));
      });
    }
    expect(Math.min(...stills)).toBeLessThan(STILL_MS);
  });

  it("refuses adds with `busy` when it lasts too long, and writes nothing of them", () =>
    withLock(200, async ({ adder, holder }) => {
      const started = performance.now();
      const refused = await Promise.allSettled(
        ["one", "two", "three"].map((content) => adder.call("add", scope, [{ role: "user", content }])),
      );
      const waitedMs = performance.now() - started;
      expect(refused.map((result) => result.status === "rejected" && result.reason.code)).toEqual(
        Array(3).fill("busy"),
      );
      expect(waitedMs).toBeGreaterThanOrEqual(200);
      expect(waitedMs).toBeLessThan(HELD_MS);
      await holder.call("unlock");
      expect(await adder.call("list", scope)).toEqual([]);
      const added = await adder.call("add", scope, [{ role: "user", content: "four" }]);
      expect(added.sequences).toEqual([1]);
      expect(await adder.call("query", scope, "one two three four")).toEqual(["four"]);
    }));
});
