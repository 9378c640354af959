/** Queries of a user's memory. */

import type { Handlers } from "../../calls/call.js";
import { HoldfastError } from "../../errors.js";
import { RESULTS_MAX } from "../../input/limits.js";
import type { By } from "../../input/question.js";
import type { Session } from "../../session.js";
import type { Hit, Hits, Kind } from "../../types.js";
import { absent, agentById, sessionById, userById } from "./lookup.js";
import type { StoreType } from "./schemas/fields.js";
import type { MEMFUSE_RECALL, MemFuseResult } from "./schemas/recall.js";
import { IdsOf, timeOf } from "./view.js";

const MESSAGES: readonly Kind[] = ["message"];
const KNOWLEDGE: readonly Kind[] = ["knowledge", "fact", "overflow"];
const SOURCES = { round: "round_buffer", hybrid: "hybrid_buffer", store: "store" } as const;

export const memfuseRecallHandlers: Handlers<typeof MEMFUSE_RECALL> = {
  memfuseQuery: async (call) => {
    const { memory, params, body } = call;
    const user = await userById(call, params.user_id);
    const session = typeof body.session_id === "string" ? await sessionById(call, body.session_id) : undefined;
    if (session && session.space.user !== user.name) {
      throw absent("session_id", "the user has no such session", "GET /api/v1/sessions?user_id=… lists them");
    }
    const agent = typeof body.agent_id === "string" ? await agentById(call, body.agent_id) : undefined;
    const { hits, partial, degraded } = await bestOf(memory.session({ user: user.name }), body.query, {
      kinds: [...(body.include_messages ? MESSAGES : []), ...(body.include_knowledge ? KNOWLEDGE : [])],
      topK: body.top_k,
      ...armOf(body.store_type),
      ...(agent && { agent: agent.name }),
    });
    const ids = new IdsOf(call);
    const results = await Promise.all(hits.map((hit) => resultOf(hit, { userId: user.id, session: session?.id, ids })));
    return { results, total: results.length, partial, ...(degraded !== undefined && { degraded }) };
  },
};

/** The search arm of a MemFuse store. */
function armOf(store: StoreType | null | undefined): { readonly by?: By } {
  if (store === "keyword") return { by: "words" };
  if (store === "vector") return { by: "meaning" };
  if (store !== "graph") return {};
  throw new HoldfastError("unsupported", "there is no graph store", {
    hint: "omit store_type to search by words and meaning",
    details: { field: "store_type" },
  });
}

interface Wanted {
  readonly kinds: readonly Kind[];
  readonly topK: number;
  readonly by?: By;
  /** Only messages exchanged with this agent. */
  readonly agent?: string;
}

type Answer = Pick<Hits, "partial" | "degraded"> & { readonly hits: readonly Hit[] };

/**
 * The best hits. Knowledge has no agent, so if it is included, the agent's messages are selected from a longer result, which
 * grows until there are enough.
 */
async function bestOf(session: Session, query: string, { kinds, topK, by, agent }: Wanted): Promise<Answer> {
  if (kinds.length === 0) return { hits: [], partial: false };
  const isOfAgent = agent !== undefined && kinds.every((kind) => kind === "message");
  const options = { kind: kinds, explain: true, ...(by !== undefined && { by }), ...(isOfAgent && { agent }) };
  for (let count = topK; ; count = Math.min(count * 8, RESULTS_MAX)) {
    const found = await session.query(query, { ...options, topK: count });
    const hits = found.filter((hit) => hit.kind !== "message" || agent === undefined || hit.agent === agent);
    if (hits.length < topK && found.length === count && count < RESULTS_MAX) continue;
    const { partial, degraded } = found;
    return { hits: hits.slice(0, topK), partial, ...(degraded !== undefined && { degraded }) };
  }
}

interface RecallRequest {
  readonly userId: string;
  /** The id of the asking session. */
  readonly session: string | undefined;
  readonly ids: IdsOf;
}

async function resultOf(hit: Hit, { userId, session, ids }: RecallRequest): Promise<MemFuseResult> {
  const { id, content, score, kind, role, recordedAt, updatedAt, sessionId } = hit;
  const source = SOURCES[hit.level];
  return {
    id,
    content,
    score,
    type: kind,
    role: role ?? null,
    created_at: timeOf(recordedAt),
    updated_at: timeOf(updatedAt),
    metadata: {
      user_id: userId,
      agent_id: (await ids.agent(hit.agent)) ?? null,
      session_id: sessionId ?? null,
      session_name: hit.session ?? null,
      scope: session === undefined || sessionId === undefined ? null : scopeOf(sessionId === session),
      level: 0,
      retrieval: { source, method: methodOf(hit) },
      source,
    },
  };
}

const scopeOf = (isInSession: boolean) => (isInSession ? "in_session" : "cross_session");

/** The arm that found it. */
function methodOf({ why }: Hit): "keyword" | "vector" | "hybrid" {
  const isByWords = (why?.words?.score ?? 0) > 0 || (why?.exact ?? 0) > 0;
  if (why?.meaning === undefined) return "keyword";
  return isByWords ? "hybrid" : "vector";
}
