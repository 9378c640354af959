/**
 * The process that is killed. It opens the file, tells what is in it, then adds, edits and forgets in nine sessions at
 * once, and reports every call before it is made and as soon as it has returned. Behind it all is embedded, and written in
 * batches as small as they can be, so that vectors are written all the time.
 *
 * Nobody else opens the file as long as there are kills to come: a connection in another process would spare the next
 * writer the recovery of the log.
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
import { Lane } from "./lane.js";
import { type Answer, digest, LANES, messagesOf, type Operation, textOf } from "./operation.js";
import type { Found, Gone, Order, Report, Sought } from "./protocol.js";

const [, , path, strategy, since] = process.argv as unknown as [string, string, string, Strategy, string];
const PAGE = 1000;
/** Words in one question. */
const WORDS_ASKED = 16;

const tell = (message: Report): void => report(message);

tell({ say: "opening" });
const memory = await openMemory({
  path,
  embedder: new HashEmbedder(),
  buffer: { hybridBuffer: { maxSize: 1, idleMs: 20, chunkStrategy: strategy } },
});
const sessions = LANES.map((scope) => memory.session(scope));
const sessionOf = (lane: number) => sessions[lane] as (typeof sessions)[number];
const found = await dump();
const vectors = await auditVectors(path, strategy, Number(since));
tell({
  say: "audit",
  unsound: [...unsoundness(path), ...vectors.problems],
  commit: vectors.commit,
  pending: vectors.pending,
});

onOrder<Order>(async (order) => {
  if (order.order === "search") await search(order.words, order.gone);
  if (order.order === "work") await work(order);
  if (order.order === "close") {
    tell({ say: "embedded", ...(await memory.flush()) });
    await memory.close();
    process.disconnect();
  }
});

/** Everything in the file, by user, in the order of arrival: also what no session should hold. */
async function dump(): Promise<Found[]> {
  const all: Found[] = [];
  for (const user of new Set(LANES.map(({ user }) => user))) {
    for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
      const page = await memory.session({ user }).list({ order: "asc", limit: PAGE, ...(cursor && { cursor }) });
      const items = page.items.map(({ id, session, sequence = 0, round = 0, version, metadata, content }) => ({
        lane: LANES.findIndex((lane) => lane.user === user && lane.session === session),
        ...{ id, sequence, round, version, digest: digest(content) },
        ...{ op: Number(metadata["op"]), at: Number(metadata["at"]) },
      }));
      tell({ say: "found", items });
      all.push(...items);
      cursor = page.next;
    }
  }
  return all;
}

/**
 * Each word must be in its item and in nothing else; what is gone must not come back by word or by id. Words of one
 * session are asked for several at a time: a question of many words finds every item that has one of them, and the up
 * to 8 neighbours of each, which do not matter here. They are asked of a memory without an embedder, because by meaning
 * any item may come up.
 */
async function search(words: readonly Sought[], gone: readonly Gone[]): Promise<void> {
  const unfound: string[] = [];
  const ghosts: string[] = [];
  const byWords = await openMemory({ path, buffer: { hybridBuffer: { embeddingModel: "none" } } });
  for (const [lane, scope] of LANES.entries()) {
    const session = byWords.session(scope);
    const here = words.filter((sought) => sought.lane === lane);
    for (let start = 0; start < here.length; start += WORDS_ASKED) {
      const asked = here.slice(start, start + WORDS_ASKED);
      const hits = await session.query(asked.map(({ word }) => word).join(" "), { topK: 10 * WORDS_ASKED });
      const containing = hits.filter(({ content }) => asked.some(({ word }) => content.startsWith(`${word} `)));
      const ids = new Set(containing.map(({ id }) => id));
      for (const { word, id } of asked)
        if (id !== undefined && !ids.delete(id)) unfound.push(`lane ${lane} ${word} ${id}`);
      for (const id of ids) ghosts.push(`lane ${lane} ${id}, by one of its words`);
    }
    const ids = gone.filter((item) => item.lane === lane).map(({ id }) => id);
    for (const { id } of ids.length > 0 ? await session.get(ids) : []) ghosts.push(`lane ${lane} ${id}, by its id`);
  }
  await byWords.close();
  tell({ say: "searched", unfound, ghosts });
}

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
    const answer = await call(operation);
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

async function call(operation: Operation): Promise<Answer> {
  const session = sessionOf(operation.lane);
  switch (operation.kind) {
    case "add": {
      const rounds = messagesOf(operation);
      const [first] = rounds;
      const options = operation.retry === "key" ? { idempotencyKey: `key-${operation.op}` } : {};
      const added =
        rounds.length === 1 && first ? [await session.add(first, options)] : await session.addBatch(rounds, options);
      return {
        ids: added.flatMap(({ ids }) => ids),
        sequences: added.flatMap(({ sequences }) => sequences),
        repeated: added.every(({ repeated }) => repeated),
      };
    }
    case "update": {
      const content = textOf({ op: operation.op, at: 0, size: operation.size });
      return { version: await session.update(operation.id, { content }, { expectVersion: operation.version }) };
    }
    case "delete":
      await session.delete(operation.ids);
      return {};
    case "forget":
      await session.forget();
      return {};
  }
}
