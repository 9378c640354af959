/**
 * The registry, limited to the spaces that the caller's key covers. An agent that the key may only act as is excluded: its
 * entry would reveal that others use it. A caller acts as an agent by name; its first message registers it.
 */

import { type Handlers, keyed } from "../../calls/call.js";
import type { Caller } from "../../calls/caller.js";
import { namedEntries, spaceOf } from "../../calls/named-entries.js";
import { HoldfastError } from "../../errors.js";
import { parseScope } from "../../input/scope.js";
import type { ENTRIES } from "../../schemas/operations/entries.js";
import { REGISTRY_KINDS } from "../../schemas/registry.js";
import type { Entry, Page, SpaceKind, SpaceRef } from "../../types.js";
import { isEmpty } from "./operation.js";

export const registryHandlers: Handlers<typeof ENTRIES> = {
  listEntries: async ({ memory, caller, params, query: { name, id, ...page } }) => {
    const entries = memory[params.kind];
    const kind = REGISTRY_KINDS[params.kind];
    if (name !== undefined) return visible(caller, kind, await entries.get(name));
    if (id !== undefined) return visible(caller, kind, await entries.byId(id));
    if (caller.coversAll(kind)) return entries.list(page);
    return { items: await namedEntries(entries, kind, caller) };
  },
  createEntry: ({ memory, caller, params, body: { name, description, ensure }, idempotencyKey }) => {
    caller.requireSpace(spaceOf(REGISTRY_KINDS[params.kind], name));
    const entries = memory[params.kind];
    return ensure ? entries.ensure(name) : entries.create(name, description, keyed(idempotencyKey));
  },
  amendEntry: async ({ memory, caller, params, body, idempotencyKey }) => {
    const kind = REGISTRY_KINDS[params.kind];
    caller.requireSpace(spaceOf(kind, params.name));
    // A key that names its spaces may not rename one to a name that another key may cover.
    if (body.name !== undefined && !caller.coversAll(kind)) caller.requireSpace(spaceOf(kind, body.name));
    return memory[params.kind].amend(params.name, body, keyed(idempotencyKey));
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
  createSession: ({ memory, caller, body: { space, name, agent }, idempotencyKey }) => {
    if (agent !== undefined) caller.requireAgent(agent);
    return memory.sessions.create(space, name, agent, keyed(idempotencyKey));
  },
  renameSession: ({ memory, body: { space, name, to }, idempotencyKey }) =>
    memory.sessions.rename(space, name, to, keyed(idempotencyKey)),
};

const isSame = (one: SpaceRef, other: SpaceRef): boolean => JSON.stringify(one) === JSON.stringify(other);

const nameAlone = (): HoldfastError =>
  new HoldfastError("invalid_input", "a session name needs a space", {
    hint: "several spaces may have a session of this name; add the space: ?user=ada&name=…",
    details: { field: "name" },
  });

const visible = (caller: Caller, kind: SpaceKind, entry: Entry | undefined): Page<Entry> => ({
  items: entry && caller.covers(spaceOf(kind, entry.name)) ? [entry] : [],
});
