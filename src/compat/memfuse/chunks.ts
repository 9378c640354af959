/** Chunks: the pieces of messages that have vectors. They store no text, so it is read from the messages. */

import type { Handlers } from "../../calls/call.js";
import { HoldfastError } from "../../errors.js";
import { RESULTS_MAX } from "../../input/limits.js";
import type { Memory } from "../../memory.js";
import type { Item, Order, Scope } from "../../types.js";
import { type Asking, absent, sessionById, userById } from "./lookup.js";
import type { MEMFUSE_CHUNKS, MemFuseChunk } from "./schemas/chunks.js";
import { LIMIT_MAX, type StoreType } from "./schemas/fields.js";
import { parseRoundId, roundId, timeOf } from "./view.js";

export const memfuseChunkHandlers: Handlers<typeof MEMFUSE_CHUNKS> = {
  memfuseSessionChunks: async (call) => {
    const { id, space, name } = await sessionById(call, call.params.session_id);
    const found = await chunksIn(call, { scope: { ...space, session: name } }, call.query);
    return { ...found, session_id: id, store_type: call.query.store_type ?? "all" };
  },
  memfuseRoundChunks: async (call) => {
    const named = parseRoundId(call.params.round_id);
    if (!named) throw noRound();
    const { id, space, name } = await sessionById(call, named.sessionId);
    const scope = { ...space, session: name };
    if (!(await hasRound(call.memory, scope, named.round))) throw noRound();
    const found = await chunksIn(call, { scope, round: named.round }, call.query);
    return { ...found, round_id: roundId(id, named.round), session_id: id, store_type: call.query.store_type ?? "all" };
  },
  memfuseChunkStats: async (call) => {
    const { user_id, session_id, store_type } = call.query;
    const user = await userById(call, user_id);
    const session = session_id === undefined ? undefined : await sessionById(call, session_id);
    if (session && session.space.user !== user.name) {
      throw absent("session_id", "the user has no such session", "GET /api/v1/sessions?user_id=… lists them");
    }
    const scope = { user: user.name, ...(session && { session: session.name }) };
    const total_chunks = hasVectors(store_type) ? await countIn(call.memory, scope) : 0;
    return {
      total_chunks,
      by_store: {
        ...(store_type !== "keyword" && { vector: { total_chunks } }),
        ...(store_type !== "vector" && { keyword: { total_chunks: 0 } }),
      },
      filters: { user_id, session_id: session_id ?? null, store_type: store_type ?? "all" },
    };
  },
};

/** Words are indexed for whole messages, so the keyword store has no chunks. */
function hasVectors(store: StoreType | undefined): boolean {
  if (store !== "graph") return store !== "keyword";
  throw new HoldfastError("unsupported", "there is no graph store", {
    hint: "omit store_type",
    details: { field: "store_type" },
  });
}

interface Wanted {
  readonly limit: number;
  readonly sort_by: "created_at" | "chunk_id" | "strategy";
  readonly order: Order;
  readonly store_type?: StoreType;
}

interface Within {
  readonly scope: Scope & { readonly user: string };
  readonly round?: number;
}

interface Found {
  readonly chunks: MemFuseChunk[];
  readonly total_count: number;
}

/** Counts all; keeps only the requested number. */
async function chunksIn(
  { memory }: Asking,
  { scope, round }: Within,
  { limit, sort_by, order, store_type }: Wanted,
): Promise<Found> {
  if (!hasVectors(store_type)) return { chunks: [], total_count: 0 };
  const userId = (await memory.users.get(scope.user))?.id ?? "";
  const count = Math.min(limit, LIMIT_MAX);
  const sign = order === "asc" ? 1 : -1;
  let chunks: MemFuseChunk[] = [];
  let total = 0;
  for await (const items of pagesOf(memory, scope, order)) {
    const wanted = round === undefined ? items : items.filter((item) => item.round === round);
    const found = await chunksOf(memory, scope, wanted, userId);
    total += found.length;
    // By time, pages come in order.
    if (sort_by !== "chunk_id")
      chunks.push(...(order === "asc" ? found : found.reverse()).slice(0, count - chunks.length));
    else chunks = [...chunks, ...found].sort((a, b) => sign * (a.chunk_id < b.chunk_id ? -1 : 1)).slice(0, count);
  }
  return { chunks, total_count: total };
}

/** The chunks of these items, oldest first. Items that are being edited are omitted. */
async function chunksOf(memory: Memory, scope: Within["scope"], items: readonly Item[], userId: string) {
  const byId = new Map(items.toSorted(oldestFirst).map((item) => [item.id, item]));
  const { service } = memory;
  const stored = await service.store.chunks([{ user: scope.user }], [...byId.keys()], service.clock.now());
  return stored.flatMap((chunk): readonly MemFuseChunk[] => {
    const item = byId.get(chunk.item);
    if (item?.version !== chunk.version) return [];
    const { id, borrowed, part, parts, start, end } = chunk;
    const { sessionId, round } = item;
    return [
      {
        chunk_id: id,
        content: item.content.slice(start, end),
        metadata: {
          user_id: userId,
          session_id: sessionId ?? null,
          round_id: sessionId === undefined || round === undefined ? null : roundId(sessionId, round),
          message_id: item.id,
          borrowed_ids: [...borrowed],
          part,
          parts,
          start,
          end,
          store_type: "vector",
          created_at: timeOf(item.recordedAt),
        },
      },
    ];
  });
}

async function countIn(memory: Memory, scope: Within["scope"]): Promise<number> {
  const { service } = memory;
  let total = 0;
  for await (const items of pagesOf(memory, scope, "asc")) {
    const ids = items.map(({ id }) => id);
    total += (await service.store.chunks([{ user: scope.user }], ids, service.clock.now())).length;
  }
  return total;
}

/** Whether a message of this round still exists. Rounds are identified by the sequence number of their first message. */
async function hasRound(memory: Memory, scope: Scope, round: number): Promise<boolean> {
  for await (const items of pagesOf(memory, scope, "desc")) {
    if (items.some((item) => item.round === round)) return true;
    if ((items.at(-1)?.sequence ?? 0) < round) return false;
  }
  return false;
}

async function* pagesOf(memory: Memory, scope: Scope, order: Order): AsyncGenerator<readonly Item[]> {
  let cursor: string | undefined;
  do {
    const more = cursor === undefined ? {} : { cursor };
    const page = await memory.session(scope).list({ limit: RESULTS_MAX, order, ...more });
    yield page.items;
    cursor = page.next;
  } while (cursor !== undefined);
}

const oldestFirst = (a: Item, b: Item): number => (a.sequence ?? 0) - (b.sequence ?? 0);

const noRound = (): HoldfastError =>
  absent("round_id", "no such round", "POST /sessions/{session_id}/messages returns its id");
