/** Blocks, facts, windows and turns. */
import { openMemory } from "holdfast";
import { SqliteStore } from "holdfast/stores";
import { CarriedBooks } from "../crash/carried-books.js";
import { CarriedCalls } from "../crash/carried-calls.js";
import { choose } from "../crash/carried-choice.js";
import { dump } from "../crash/carried-dump.js";
import { CARRIED_LANES } from "../crash/carried-operation.js";
import type { CarriedReport } from "../crash/carried-protocol.js";
import { after, EMPTY, type LaneState } from "../crash/carried-state.js";
import { unsoundCarried } from "../crash/carried-unsound.js";
import { report } from "../support/child.js";
import { Random } from "../support/random.js";
import { unsoundness } from "../support/raw.js";
import { BY_WORDS, examined, fileOf } from "./memory.js";
import { unsound, type Workload } from "./workload.js";

const TURNS = 25;

const tell = (message: CarriedReport): void => report(message);

export const carried: Workload = {
  name: "blocks, facts, turns",
  images: 200,
  async work(folder, random) {
    const memory = await openMemory({ ...BY_WORDS, path: fileOf(folder) });
    const calls = new CarriedCalls(memory);
    const seeds = CARRIED_LANES.map(() => random.between(0, 2 ** 32 - 1));
    let op = 1;
    await Promise.all(
      seeds.map(async (seed, lane) => {
        const chance = new Random(seed);
        let state: LaneState = EMPTY;
        for (let turn = 0; turn < TURNS; turn++) {
          const operation = choose(state, op++, lane, chance);
          tell({ say: "do", operation });
          tell({ say: "done", lane, op: operation.op, answer: await calls.make(operation) });
          state = after(state, operation);
        }
      }),
    );
    await memory.close();
  },
  async check(folder, reports) {
    const path = fileOf(folder);
    const books = new CarriedBooks();
    for (const report of reports as readonly CarriedReport[]) {
      if (report.say === "do") books.begin(report.operation);
      if (report.say === "done") books.done(report.lane, report.op, report.answer);
    }
    const memory = await openMemory({ ...BY_WORDS, path });
    const store = await SqliteStore.open({ path, busyTimeoutMs: 10_000 });
    const findings = [];
    for (const [lane, scope] of CARRIED_LANES.entries()) {
      findings.push(...books.audit(lane, await dump(memory, store, scope)));
    }
    await store.close();
    await memory.close();
    const problems = [...unsoundness(path), ...unsoundCarried(path), ...(await examined(path))];
    return [...findings, ...problems.map(unsound)];
  },
};
