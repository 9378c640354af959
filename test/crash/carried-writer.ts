/**
 * The process that is killed. In six lanes at once it edits blocks, records facts, fills windows and commits turns.
 *
 * It opens the file, reports its contents, then works. It reports every call before making it and as soon as it has
 * returned. Meanwhile everything is embedded, in batches as small as possible. Argument: the path of the file.
 */
import { openMemory } from "holdfast";
import { SqliteStore } from "holdfast/stores";
import { onOrder, report } from "../support/child.js";
import { HashEmbedder } from "../support/product.js";
import { Random } from "../support/random.js";
import { unsoundness } from "../support/raw.js";
import { auditVectors } from "../support/vectors.js";
import { CarriedCalls } from "./carried-calls.js";
import { choose } from "./carried-choice.js";
import { dump } from "./carried-dump.js";
import { CARRIED_LANES, type CarriedOperation } from "./carried-operation.js";
import type { CarriedOrder, CarriedReport } from "./carried-protocol.js";
import { after, type LaneState } from "./carried-state.js";
import { unsoundCarried } from "./carried-unsound.js";

const [, , path] = process.argv as unknown as [string, string, string];
const STRATEGY = "message";

const tell = (message: CarriedReport): void => report(message);

tell({ say: "opening" });
const memory = await openMemory({
  path,
  embedder: new HashEmbedder(),
  buffer: { hybridBuffer: { maxSize: 1, idleMs: 20, chunkStrategy: STRATEGY } },
});
const calls = new CarriedCalls(memory);
const store = await SqliteStore.open({ path, busyTimeoutMs: 10_000 });
// By meaning anything may come up: what is found is asked of a memory without an embedder.
const byWords = await openMemory({ path, buffer: { hybridBuffer: { embeddingModel: "none" } } });
for (const [lane, scope] of CARRIED_LANES.entries()) {
  tell({ say: "found", lane, found: await dump(byWords, store, scope) });
}
await byWords.close();
await store.close();
const { problems } = await auditVectors(path, STRATEGY);
tell({ say: "audit", unsound: [...unsoundness(path), ...unsoundCarried(path), ...problems] });

onOrder<CarriedOrder>(async (order) => {
  if (order.order === "work") return work(order);
  tell({ say: "embedded", ...(await memory.flush()) });
  await memory.close();
  process.disconnect();
});

async function work({ seed, firstOp, states, unfinished }: CarriedOrder & { order: "work" }): Promise<void> {
  let op = firstOp;
  const random = new Random(seed);
  await Promise.all(
    states.map(async (found, lane) => {
      const chance = new Random(random.between(0, 2 ** 32 - 1));
      let state: LaneState = found;
      const perform = async (operation: CarriedOperation): Promise<void> => {
        tell({ say: "do", operation });
        try {
          tell({ say: "done", lane, op: operation.op, answer: await calls.make(operation) });
        } catch (error) {
          tell({ say: "refused", op: operation.op, why: `${operation.kind}: ${error}` });
        }
        state = after(state, operation);
      };
      for (const operation of unfinished) if (operation.lane === lane) await perform(operation);
      // What the last window held is asked for before anything else has changed, by some of the lanes.
      if (chance.chance(0.5)) await perform({ op: op++, lane, kind: "context" });
      for (;;) await perform(choose(state, op++, lane, chance));
    }),
  );
}
