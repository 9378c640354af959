/**
 * The process that is killed. It opens the file, reports its contents, then adds, edits and forgets in nine sessions at
 * once. It reports every call before making it and as soon as it has returned. Meanwhile everything is embedded and
 * written in batches as small as possible, so that vectors are written all the time.
 *
 * No other process opens the file until the last kill: its connection would spare the next writer the recovery of the
 * log.
 *
 * Arguments: the path of the file, the chunk strategy, the commit up to which its vectors were compared before.
 */
import { statSync } from "node:fs";
import { openMemory } from "holdfast";
import { onOrder, report } from "../support/child.js";
import { HashEmbedder } from "../support/product.js";
import { Random } from "../support/random.js";
import { unsoundness } from "../support/raw.js";
import { auditVectors, type Strategy } from "../support/vectors.js";
import { call, dump, search } from "./calls.js";
import { Lane } from "./lane.js";
import { LANES, type Operation } from "./operation.js";
import type { Found, Order, Report } from "./protocol.js";

const [, , path, strategy, since] = process.argv as unknown as [string, string, string, Strategy, string];

const tell = (message: Report): void => report(message);

tell({ say: "opening" });
const memory = await openMemory({
  path,
  embedder: new HashEmbedder(),
  buffer: { hybridBuffer: { maxSize: 1, idleMs: 20, chunkStrategy: strategy } },
});
const sessions = LANES.map((scope) => memory.session(scope));
const sessionOf = (lane: number) => sessions[lane] as (typeof sessions)[number];
const found: Found[] = [];
for await (const items of dump(memory)) {
  tell({ say: "found", items });
  found.push(...items);
}
const vectors = await auditVectors(path, strategy, Number(since));
tell({
  say: "audit",
  unsound: [...unsoundness(path), ...vectors.problems],
  commit: vectors.commit,
  pending: vectors.pending,
});

onOrder<Order>(async (order) => {
  if (order.order === "search") {
    const byWords = await openMemory({ path, buffer: { hybridBuffer: { embeddingModel: "none" } } });
    const searched = await search(byWords, order.words, order.gone);
    await byWords.close();
    tell({ say: "searched", ...searched });
  }
  if (order.order === "work") await work(order);
  if (order.order === "close") {
    tell({ say: "embedded", ...(await memory.flush()) });
    await memory.close();
    process.disconnect();
  }
});

async function work({ seed, firstOp, mood, repeat }: Extract<Order, { order: "work" }>): Promise<void> {
  let op = firstOp;
  const random = new Random(seed);
  await Promise.all(
    LANES.map(async (_, index) => {
      const lane = new Lane(index, new Random(random.between(0, 2 ** 32 - 1)), () => op++);
      for (const item of found) if (item.lane === index) lane.knows(item);
      for (const operation of repeat) if (operation.lane === index) await perform(operation, lane);
      for (;;) await Promise.all(lane.next(mood).map((operation) => perform(operation, lane)));
    }),
  );
}

async function perform(operation: Operation, lane: Lane): Promise<void> {
  tell({ say: "do", operation });
  try {
    const answer = await call(sessionOf(operation.lane), operation);
    tell({ say: "done", op: operation.op, answer });
    lane.done(operation, answer);
  } catch (error) {
    tell({ say: "refused", op: operation.op, why: String(error) });
  }
  noticeCheckpoint();
  noticeFlush();
}

let changedAt = statSync(path).mtimeMs;

/** Commits go to the log; it is a checkpoint that writes to the file itself. */
function noticeCheckpoint(): void {
  const { mtimeMs } = statSync(path);
  if (mtimeMs === changedAt) return;
  changedAt = mtimeMs;
  tell({ say: "checkpoint" });
}

let flushes = 0;

function noticeFlush(): void {
  const { flushOperations = 0 } = memory.service.buffers.hybrid ?? {};
  if (flushOperations === flushes) return;
  flushes = flushOperations;
  tell({ say: "flush" });
}
