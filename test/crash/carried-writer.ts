/**
 * The process that is killed while it edits blocks, learns facts, fills windows and commits turns, in six lanes at once. It
 * opens the file, tells what is in it, then works, and reports every call before it is made and as soon as it has returned.
 * Behind it all is embedded, in batches as small as they can be.
 *
 * Argument: the path of the file.
 */
import { openMemory } from "holdfast";
import { SqliteStore } from "holdfast/stores";
import { onOrder, report } from "../support/child.js";
import { HashEmbedder } from "../support/product.js";
import { Random } from "../support/random.js";
import { unsoundness } from "../support/raw.js";
import { auditVectors } from "../support/vectors.js";
import { choose } from "./carried-choice.js";
import { dump } from "./carried-dump.js";
import {
  CARRIED_LANES,
  type CarriedAnswer,
  type CarriedOperation,
  COMMON,
  confidenceOf,
  factOf,
  HEAD_TOKENS,
  headOf,
  isArchive,
  lineOf,
  messageId,
  messageOf,
  reasonOf,
  timeOf,
} from "./carried-operation.js";
import type { CarriedOrder, CarriedReport } from "./carried-protocol.js";
import { after, type LaneState } from "./carried-state.js";
import { unsoundCarried } from "./carried-unsound.js";

const [, , path] = process.argv as unknown as [string, string, string];
/** Room for all that a lane holds, and time to read it. */
const AMPLE = { budgetTokens: 1_000_000, counter: "chars4", turns: 1_000, topK: 1_000, deadlineMs: 60_000 };
const STRATEGY = "message";
const CATEGORY = "habit";
const ANY_STATE = ["holds", "ended", "retracted"] as const;

const tell = (message: CarriedReport): void => report(message);

tell({ say: "opening" });
const memory = await openMemory({
  path,
  embedder: new HashEmbedder(),
  buffer: { hybridBuffer: { maxSize: 1, idleMs: 20, chunkStrategy: STRATEGY } },
});
const sessions = CARRIED_LANES.map((scope) => memory.session(scope));
const sessionOf = (lane: number) => sessions[lane] as (typeof sessions)[number];
const spaceOf = (lane: number) => memory.session({ user: CARRIED_LANES[lane]?.user ?? "" });
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
          tell({ say: "done", lane, op: operation.op, answer: await call(operation) });
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

async function call(operation: CarriedOperation): Promise<CarriedAnswer> {
  const { op, lane } = operation;
  const session = sessionOf(lane);
  const reason = reasonOf(op);
  switch (operation.kind) {
    case "create":
      return { version: (await session.blocks.create({ ...blockOf(operation.name, op), reason })).version };
    case "edit": {
      const { content } = blockOf(operation.name, op);
      const change = operation.how === "append" ? { append: lineOf(op) } : { content };
      return { version: (await session.blocks.edit(operation.name, { ...change, reason })).version };
    }
    case "drop":
      await session.blocks.delete(operation.name);
      return {};
    case "learn": {
      const supersedes = operation.supersedes === undefined ? [] : [await idOf(lane, operation.supersedes)];
      const given = { category: CATEGORY, content: factOf(op), confidence: confidenceOf(op) };
      await session.facts.upsert({ ...given, supersedes, validFrom: timeOf(op) });
      return {};
    }
    case "repeat":
      await session.facts.upsert({ category: CATEGORY, content: operation.fact, confidence: confidenceOf(op) });
      return {};
    case "end":
      await session.facts.end(await idOf(lane, operation.fact), { at: timeOf(op) });
      return {};
    case "retract":
      await session.facts.retract(await idOf(lane, operation.fact));
      return {};
    case "context":
      return context(lane);
    case "reset":
      await session.windowReset();
      return {};
    case "turn": {
      const turn = session.turn();
      const id = messageId(op);
      const fact = { category: CATEGORY, content: factOf(op), confidence: confidenceOf(op), sourceMessage: id };
      turn.push({ op: "save_message", message: { role: "user", content: messageOf(op), id } });
      turn.push({ op: "upsert_fact", ...fact });
      turn.push({ op: "edit_block", block: operation.name, append: lineOf(op), reason });
      const [sequence = 0] = (await session.commit(turn)).sequences;
      return { sequence };
    }
    case "forget":
      await spaceOf(lane).forget();
      return {};
  }
}

const blockOf = (name: string, op: number) =>
  isArchive(name)
    ? ({ name, content: headOf(op), maxTokens: HEAD_TOKENS, policy: "archive" } as const)
    : { name, content: lineOf(op) };

async function context(lane: number): Promise<CarriedAnswer> {
  const given = await sessionOf(lane).context({ ...AMPLE, query: COMMON });
  const names = await textsOf(lane);
  const textOf = ({ id }: { readonly id: string }): string => names.get(id) ?? `nothing of id ${id}`;
  return {
    given: [...given.added, ...given.changed].map(textOf),
    withdrawn: given.retracted.map(textOf),
    // It may be partial while vectors are still being read; by their words all are found even so.
    ...(given.degraded !== undefined && { trouble: given.degraded }),
  };
}

async function idOf(lane: number, text: string): Promise<string> {
  for (const [id, content] of await textsOf(lane)) if (content === text) return id;
  throw new Error(`there is no fact ${text}`);
}

/** The texts of all items and facts of a lane's space, by id. */
async function textsOf(lane: number): Promise<ReadonlyMap<string, string>> {
  const { items: facts } = await sessionOf(lane).facts.list({ state: ANY_STATE, limit: 1_000 });
  const { items } = await spaceOf(lane).list({ limit: 1_000 });
  return new Map([...facts, ...items].map(({ id, content }) => [id, content]));
}
