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
/** How soon a refusal comes at the latest, on a slow machine. */
const REFUSED_WITHIN_MS = 5_000;
/**
 * The event loop may stand still for so long at most. A machine that is busy with other things lets every process stand
 * still now and then, a driver that waits for the lock does it every time: the best of some attempts counts. If even a
 * process that does nothing never had a quiet attempt, all that can be said is that nobody waited for the lock itself.
 */
const STILL_MS = 50;
const STARVED_MS = 25;
const STILL_STARVED_MS = 500;
const ATTEMPTS = 5;

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

describe("a write lock held by another process", { timeout: 120_000 }, () => {
  it("holds up adds, not the event loop, and loses none of them", async () => {
    const attempts: { readonly maxMs: number; readonly idleMaxMs: number }[] = [];
    while (attempts.length < ATTEMPTS && !attempts.some(({ maxMs }) => maxMs < STILL_MS)) {
      await withLock(60_000, async ({ adder, holder }) => {
        const adding = adder.call("addSteadily", scope, ADDS, EVERY_MS);
        await after(HELD_MS);
        expect(await adder.call("list", scope)).toEqual([]); // reads do not wait
        const { heldUntil, maxMs: idleMaxMs } = await holder.call("unlock");
        const { answeredAt, sequences, maxMs, p99Ms } = await adding;
        const times = [p99Ms, maxMs, idleMaxMs].map((ms) => ms.toFixed(1));
        console.log(
          `lock held for ${HELD_MS} ms: event loop p99 ${times[0]} ms, max ${times[1]} ms, idle process ${times[2]} ms`,
        );
        attempts.push({ maxMs, idleMaxMs });
        expect(Math.min(...answeredAt)).toBeGreaterThanOrEqual(heldUntil);
        expect(sequences).toEqual(Array.from({ length: ADDS }, (_, at) => at + 1));
        const items = await adder.call("list", scope);
        expect(items.map(({ content }) => content)).toEqual(sequences.map((_, at) => `steady ${at}`));
      });
    }
    const starved = attempts.every(({ idleMaxMs }) => idleMaxMs > STARVED_MS);
    expect(Math.min(...attempts.map(({ maxMs }) => maxMs))).toBeLessThan(starved ? STILL_STARVED_MS : STILL_MS);
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
      expect(waitedMs).toBeLessThan(REFUSED_WITHIN_MS);
      await holder.call("unlock");
      expect(await adder.call("list", scope)).toEqual([]);
      const added = await adder.call("add", scope, [{ role: "user", content: "four" }]);
      expect(added.sequences).toEqual([1]);
      expect(await adder.call("query", scope, "one two three four")).toEqual(["four"]);
    }));
});
