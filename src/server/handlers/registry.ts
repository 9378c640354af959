/** The registry, as far as the caller's key covers it. */
import { HoldfastError } from "../../errors.js";
import { parseScope } from "../../input/scope.js";
import type { Memory } from "../../memory.js";
import type { Entries } from "../../registry.js";
import type { ENTRIES } from "../../schemas/operations/entries.js";
import { REGISTRY_KINDS } from "../../schemas/registry.js";
import type { Entry, Page, SpaceKind, SpaceRef } from "../../types.js";
import type { Handlers } from "../call.js";
import type { Caller } from "../caller.js";
import { isEmpty } from "./operation.js";

type Kind = keyof typeof REGISTRY_KINDS;

export const registryHandlers: Handlers<typeof ENTRIES> = {
  listEntries: async ({ memory, caller, params, query: { name, id, ...page } }) => {
    const entries = memory[params.kind];
    const kind = REGISTRY_KINDS[params.kind];
    if (name !== undefined) return visible(caller, kind, await entries.get(name));
    if (id !== undefined) return visible(caller, kind, await entries.byId(id));
    if (caller.coversAll(kind)) return entries.list(page);
    return { items: await namedEntries(entries, kind, caller) };
  },
  createEntry: ({ memory, caller, params, body: { name, description, ensure } }) => {
    requireEntry(caller, REGISTRY_KINDS[params.kind], name);
    const entries = memory[params.kind];
    return ensure ? entries.ensure(name) : entries.create(name, description);
  },
  amendEntry: async ({ memory, caller, params, body }) => {
    const kind = REGISTRY_KINDS[params.kind];
    caller.requireSpace(spaceOf(kind, params.name));
    // A key that names its spaces may not give one away by giving it a name that others may have been granted.
    if (body.name !== undefined && !caller.coversAll(kind)) caller.requireSpace(spaceOf(kind, body.name));
    return amended(memory, params.kind, params.name, body);
  },
  deleteEntry: ({ memory, caller, params }) => {
    caller.requireSpace(spaceOf(REGISTRY_KINDS[params.kind], params.name));
    return memory[params.kind].delete(params.name);
  },
  listSessions: async ({ memory, caller, scope, query: { name, id, ...page } }) => {
    if (id !== undefined) {
      const found = await memory.sessions.byId(id);
      const isIn = found && (isEmpty(scope) || isSame(found.space, parseScope(scope).space));
      return { items: isIn && caller.covers(found.space) ? [found] : [] };
    }
    if (isEmpty(scope)) {
      if (name !== undefined) throw nameAlone();
      caller.require("admin");
      return memory.sessions.list(page);
    }
    const { space, agent } = parseScope(scope);
    if (name !== undefined) {
      const found = await memory.sessions.get(space, name);
      return { items: found ? [found] : [] };
    }
    return memory.sessions.list({ ...page, space, ...(agent !== undefined && !("agent" in space) && { agent }) });
  },
  createSession: ({ memory, caller, body: { space, name, agent } }) => {
    if (agent !== undefined) caller.requireAgent(agent);
    return memory.sessions.create(space, name, agent);
  },
  renameSession: ({ memory, body: { space, name, to } }) => memory.sessions.rename(space, name, to),
};

/** Agents are also attributes: whoever may act as one may register it and look it up. */
export function mayName(caller: Caller, kind: SpaceKind, name: string): boolean {
  return caller.covers(spaceOf(kind, name)) || (kind === "agent" && caller.mayActAs(name));
}

export function requireEntry(caller: Caller, kind: SpaceKind, name: string): void {
  if (!mayName(caller, kind, name)) caller.requireSpace(spaceOf(kind, name));
}

export const spaceOf = (kind: SpaceKind, name: string): SpaceRef => ({ [kind]: name }) as unknown as SpaceRef;

const isSame = (one: SpaceRef, other: SpaceRef): boolean => JSON.stringify(one) === JSON.stringify(other);

const nameAlone = (): HoldfastError =>
  new HoldfastError("invalid_input", "a session's name needs its space", {
    hint: "many spaces may have a session of this name: ?user=ada&name=…",
    details: { field: "name" },
  });

const visible = (caller: Caller, kind: SpaceKind, entry: Entry | undefined): Page<Entry> => ({
  items: entry && mayName(caller, kind, entry.name) ? [entry] : [],
});

/** The entries that a key names one by one. */
export async function namedEntries(entries: Entries, kind: SpaceKind, caller: Caller): Promise<Entry[]> {
  const names = caller.named(kind).flatMap((space) => Object.values(space) as string[]);
  const found = await Promise.all(names.map((name) => entries.get(name)));
  return found.filter((entry) => entry !== undefined);
}

interface Change {
  readonly name?: string;
  readonly description?: string | null;
  readonly retentionMs?: number | null;
}

/** Each change is its own write. The name comes first: it alone can be refused, and then nothing is changed. */
export async function amended(memory: Memory, kind: Kind, name: string, change: Change): Promise<Entry> {
  const entries = memory[kind];
  let entry = await entries.get(name);
  if (!entry)
    throw new HoldfastError("not_found", "there is no entry of this name", { hint: "GET it to see which are" });
  if (change.name !== undefined && change.name !== name) entry = await entries.rename(name, change.name);
  if (change.description !== undefined) entry = await entries.describe(entry.name, change.description);
  if (change.retentionMs !== undefined) entry = await entries.retain(entry.name, change.retentionMs);
  return entry;
}
