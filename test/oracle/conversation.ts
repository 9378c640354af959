/**
 * The plain list of what exists: items, and their space, session and agent. Items refer to these, so a renamed one
 * changes everywhere.
 */
import type { Item, ItemPatch, Kind, Metadata, NewItem, Role, SpaceKind, SpaceRef, Tier } from "holdfast";

export interface SessionState {
  name: string;
  /** The sequence of its newest item. */
  sequence: number;
}

export interface SpaceState {
  readonly kind: SpaceKind;
  name: string;
  /** Whether it is registered. */
  exists: boolean;
  retentionMs: number | undefined;
  /** By slot; absent if there is none. */
  readonly sessions: Map<number, SessionState>;
}

export interface AgentState {
  name: string;
  exists: boolean;
}

export interface Row {
  /** Grows with every item. */
  readonly key: number;
  readonly id: string;
  readonly space: SpaceState;
  readonly session?: SessionState;
  readonly agent?: AgentState;
  readonly sequence?: number;
  readonly round?: number;
  readonly kind: Kind;
  role?: Role;
  name?: string;
  content: string;
  metadata: Metadata;
  tier: Tier;
  occurredAt: number;
  readonly recordedAt: number;
  updatedAt: number;
  expiresAt?: number;
  version: number;
}

/** The two names that each place alternates between. */
const SPACES = [
  { kind: "user", names: ["ada", "lady ada"] },
  { kind: "user", names: ["ben", "benjamin"] },
  { kind: "team", names: ["crew", "the crew"] },
] as const;
const SESSIONS = [
  ["monday", "the first day"],
  ["tuesday", "the second day"],
] as const;
const AGENTS = [
  ["tutor", "teacher"],
  ["coach", "trainer"],
] as const;

export const SPACE_SLOTS = SPACES.length;
export const SESSION_SLOTS = SESSIONS.length;
export const AGENT_SLOTS = AGENTS.length;

const other = (names: readonly [string, string] | undefined, name: string): string =>
  String(names?.find((one) => one !== name));

export class Conversation {
  readonly spaces: readonly SpaceState[] = SPACES.map(({ kind, names: [name] }) => ({
    kind,
    name,
    exists: false,
    retentionMs: undefined,
    sessions: new Map(),
  }));
  readonly agents: readonly AgentState[] = AGENTS.map(([name]) => ({ name, exists: false }));
  /** Everything stored, in order of arrival; expired items are stored until they are swept. */
  rows: Row[] = [];
  #keys = 0;

  space(slot: number): SpaceState {
    return this.spaces[slot % SPACE_SLOTS] as SpaceState;
  }

  agent(slot: number): AgentState {
    return this.agents[slot % AGENT_SLOTS] as AgentState;
  }

  /** The name of the slot's session, even if there is none now. */
  sessionName(space: SpaceState, slot: number): string {
    return space.sessions.get(slot)?.name ?? String(SESSIONS[slot]?.[0]);
  }

  nextId(): string {
    return `m${this.#keys + 1}`;
  }

  /** The name that the space, session or agent would have after its next rename. */
  otherSpaceName(slot: number): string {
    return other(SPACES[slot]?.names, this.space(slot).name);
  }

  otherSessionName(slot: number, session: SessionState): string {
    return other(SESSIONS[slot], session.name);
  }

  otherAgentName(slot: number): string {
    return other(AGENTS[slot], this.agent(slot).name);
  }

  /** Adds the items of one call. */
  add(
    slot: number,
    sessionSlot: number | undefined,
    agentSlot: number | undefined,
    items: readonly NewItem[],
    now: number,
  ): void {
    const space = this.space(slot);
    space.exists = true;
    const session = sessionSlot === undefined ? undefined : this.#session(space, sessionSlot);
    const agent = agentSlot === undefined ? undefined : this.agent(agentSlot);
    if (agent) agent.exists = true;
    const round = session && session.sequence + 1;
    for (const { id, kind, role, name, content, metadata = {}, tier = "episodic", occurredAt, expiresAt } of items) {
      this.rows.push({
        key: ++this.#keys,
        id: String(id),
        space,
        ...(session && { session, sequence: ++session.sequence, round: Number(round) }),
        ...(agent && { agent }),
        kind: kind as Kind,
        ...(role && { role }),
        ...(name !== undefined && { name }),
        content: String(content),
        metadata,
        tier,
        occurredAt: Number(occurredAt),
        recordedAt: now,
        updatedAt: now,
        ...(expiresAt !== undefined && { expiresAt: Number(expiresAt) }),
        version: 1,
      });
    }
  }

  #session(space: SpaceState, slot: number): SessionState {
    const known = space.sessions.get(slot) ?? { name: this.sessionName(space, slot), sequence: 0 };
    space.sessions.set(slot, known);
    return known;
  }

  edit(row: Row, { name, expiresAt, ...patch }: ItemPatch, now: number): void {
    Object.assign(row, patch, { version: row.version + 1, updatedAt: now });
    if (name === null) delete row.name;
    else if (name !== undefined) row.name = name;
    if (expiresAt === null) delete row.expiresAt;
    else if (expiresAt !== undefined) row.expiresAt = Number(expiresAt);
  }

  remove(isGone: (row: Row) => boolean): void {
    this.rows = this.rows.filter((row) => !isGone(row));
  }

  forgetSession(space: SpaceState, slot: number): void {
    const session = space.sessions.get(slot);
    if (!session) return;
    this.remove((row) => row.session === session);
    space.sessions.delete(slot);
  }

  forgetSpace(space: SpaceState): void {
    this.remove((row) => row.space === space);
    space.sessions.clear();
    space.retentionMs = undefined;
    space.exists = false;
  }

  sweep(now: number): void {
    this.remove((row) => !isVisible(row, now));
  }
}

export const refOf = ({ kind, name }: SpaceState): SpaceRef => ({ [kind]: name }) as unknown as SpaceRef;

export function isVisible({ expiresAt = Infinity, recordedAt, space }: Row, now: number): boolean {
  return expiresAt > now && recordedAt + (space.retentionMs ?? Infinity) > now;
}

/** The item as an answer shows it, except for the session's id. */
export function itemOf(row: Row): Omit<Item, "sessionId"> {
  const { key: _key, space, session, agent, ...rest } = row;
  return {
    ...rest,
    space: refOf(space),
    ...(session && { session: session.name }),
    ...(agent && { agent: agent.name }),
  };
}
