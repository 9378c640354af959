/** Processes that create one file at the same moment, push to it and consume it: each entry is acknowledged once. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { inFolder } from "../../support/folder.js";
import { Random, testSeed } from "../../support/random.js";
import type { Call, Report } from "./protocol.js";
import { unsoundBuffer } from "./unsound.js";
import { WorkerProcess } from "./worker-process.js";

const PROCESSES = 3;
const CALLS = 250;
/** No lease ends while they work, so none is overtaken. */
const LEASE_MS = 60_000;

it("several processes on one file lose nothing, and acknowledge nothing twice", () =>
  inFolder(async (folder) => {
    const path = join(folder, "buffer.db");
    const random = new Random(testSeed("buffer store, shared"));
    const workers = Array.from({ length: PROCESSES }, () => new WorkerProcess(path));
    const pushed: number[] = [];
    const injected: number[] = [];
    const acknowledged: number[] = [];
    const failed: Call[] = [];

    /** One worker's calls, as they return. */
    const book = () => {
      let call: Call | undefined;
      return (report: Report): void => {
        if (report.say === "begin") call = report.call;
        if (report.say !== "done" || !call) return;
        if (call.kind === "push") pushed.push(call.number);
        if (call.kind === "inject") injected.push(call.number);
        if (call.kind === "acknowledge") acknowledged.push(...report.numbers);
        if ("numbers" in call && report.numbers.length !== call.numbers.length) failed.push(call);
      };
    };
    await Promise.all(
      workers.map((worker, index) => {
        const seed = random.between(0, 2 ** 31);
        const order = { do: "work", from: (index + 1) * 1_000, seed, leaseMs: LEASE_MS, calls: CALLS } as const;
        return worker.until("idle", order, book());
      }),
    );
    const [first] = workers as [WorkerProcess];
    const { entries, injected: known } = await first.look(injected);
    expect(failed).toEqual([]);
    expect(known).toEqual(injected);
    expect(entries.every(({ isWhole }) => isWhole)).toBe(true);
    const left = entries.map(({ number }) => number);
    expect([...left, ...acknowledged].toSorted()).toEqual(pushed.toSorted());
    for (let index = 1; index <= PROCESSES; index++) {
      const own = left.filter((number) => Math.floor(number / 1_000) === index);
      expect(own).toEqual(own.toSorted((a, b) => a - b));
    }

    await Promise.all(workers.map((worker) => worker.until("idle", { do: "drain" }, book())));
    expect(await first.look([])).toEqual({ entries: [], injected: [] });
    expect(acknowledged.toSorted()).toEqual(pushed.toSorted());
    expect(failed).toEqual([]);
    console.log(`${PROCESSES} processes: ${pushed.length} entries pushed and confirmed, ${injected.length} ids`);
    await Promise.all(workers.map((worker) => worker.close()));
    expect(unsoundBuffer(path)).toEqual([]);
  }));
