/** Converts stored data to MemFuse's schema. */

import type { Caller } from "../../calls/caller.js";
import type { Memory } from "../../memory.js";
import type { Entry, Item } from "../../types.js";
import { type Asking, idOfName, isByNameOnly, type UserSession } from "./lookup.js";
import type { MemFuseEntry } from "./schemas/entries.js";
import type { MemFuseKnowledge } from "./schemas/knowledge.js";
import type { MemFuseMessage } from "./schemas/messages.js";
import type { MemFuseSession } from "./schemas/sessions.js";

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

/** A round's id: its session, and the sequence number of its first message. */
export const roundId = (sessionId: string, round: number): string => `${sessionId}:${round}`;

export function parseRoundId(id: string): { readonly sessionId: string; readonly round: number } | undefined {
  const [, sessionId, round] = /^(.+):([1-9]\d{0,14})$/s.exec(id) ?? [];
  return sessionId === undefined ? undefined : { sessionId, round: Number(round) };
}

/** Registry ids by name, each looked up once. Only those the caller may know: an id reveals when it was created. */
export class IdsOf {
  readonly #memory: Memory;
  readonly #caller: Caller;
  readonly #known = new Map<string, Promise<string | undefined>>();

  constructor({ memory, caller }: Asking) {
    this.#memory = memory;
    this.#caller = caller;
  }

  user(name: string): Promise<string | undefined> {
    return this.#of("users", name);
  }

  async agent(name: string | undefined): Promise<string | undefined> {
    if (name === undefined) return undefined;
    if (isByNameOnly(this.#caller, name)) return idOfName(name);
    return this.#caller.covers({ agent: name }) ? this.#of("agents", name) : undefined;
  }

  #of(kind: "users" | "agents", name: string): Promise<string | undefined> {
    const key = `${kind} ${name}`;
    const known = this.#known.get(key) ?? this.#memory[kind].get(name).then((entry) => entry?.id);
    this.#known.set(key, known);
    return known;
  }
}
