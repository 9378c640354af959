/** What is stored, in MemFuse's words. */
import type { Memory } from "../../memory.js";
import type { MemFuseEntry } from "../../schemas/memfuse/entries.js";
import type { MemFuseKnowledge } from "../../schemas/memfuse/knowledge.js";
import type { MemFuseMessage } from "../../schemas/memfuse/messages.js";
import type { MemFuseSession } from "../../schemas/memfuse/sessions.js";
import type { Entry, Item } from "../../types.js";
import type { UserSession } from "./lookup.js";

export const timeOf = (ms: number): string => new Date(ms).toISOString();

const timesOf = ({ recordedAt, updatedAt }: Item) => ({
  created_at: timeOf(recordedAt),
  updated_at: timeOf(updatedAt),
});

export const entryView = ({ id, name, description, createdAt, updatedAt }: Entry): MemFuseEntry => ({
  id,
  name,
  description: description ?? null,
  created_at: timeOf(createdAt),
  updated_at: timeOf(updatedAt),
});

export function sessionView(session: UserSession, userId: string, agentId: string | undefined): MemFuseSession {
  const { id, name, createdAt, updatedAt } = session;
  const times = { created_at: timeOf(createdAt), updated_at: timeOf(updatedAt) };
  return { id, user_id: userId, agent_id: agentId ?? null, name, ...times };
}

export function messageView(item: Item, sessionId: string): MemFuseMessage {
  const { id, role = "user", name, content, round = 0, occurredAt, metadata } = item;
  return {
    id,
    session_id: sessionId,
    round_id: roundId(sessionId, round),
    role,
    ...(name !== undefined && { name }),
    content,
    occurred_at: timeOf(occurredAt),
    ...timesOf(item),
    metadata,
  };
}

export const knowledgeView = (item: Item, userId: string): MemFuseKnowledge => ({
  id: item.id,
  user_id: userId,
  content: item.content,
  ...timesOf(item),
  metadata: item.metadata,
});

/** A round by name: its session, and the place of its first message there. */
export const roundId = (sessionId: string, round: number): string => `${sessionId}:${round}`;

export function parseRoundId(id: string): { readonly sessionId: string; readonly round: number } | undefined {
  const [, sessionId, round] = /^(.+):([1-9]\d{0,14})$/s.exec(id) ?? [];
  return sessionId === undefined ? undefined : { sessionId, round: Number(round) };
}

/** The registry ids of names, each asked for once. */
export class IdsOf {
  readonly #memory: Memory;
  readonly #known = new Map<string, Promise<string | undefined>>();

  constructor(memory: Memory) {
    this.#memory = memory;
  }

  user(name: string): Promise<string | undefined> {
    return this.#of("users", name);
  }

  async agent(name: string | undefined): Promise<string | undefined> {
    return name === undefined ? undefined : this.#of("agents", name);
  }

  #of(kind: "users" | "agents", name: string): Promise<string | undefined> {
    const key = `${kind} ${name}`;
    const known = this.#known.get(key) ?? this.#memory[kind].get(name).then((entry) => entry?.id);
    this.#known.set(key, known);
    return known;
  }
}
