/** Handlers for buffers, statistics and API keys. */

import type { BufferedSession } from "../../buffers/meaning-path.js";
import { type Handlers, keyed } from "../../calls/call.js";
import type { Sampler } from "../../metrics/history.js";
import type { BUFFERS } from "../../schemas/operations/buffers.js";
import type { KEYS } from "../../schemas/operations/keys.js";
import type { Scope } from "../../types.js";

/** Sessions listed at once. */
const SESSIONS_MAX = 100;

export const bufferHandlers = (sampler: Sampler): Handlers<typeof BUFFERS> => ({
  // `call.session` requires a scope.
  flush: (call) => (isEmpty(call.scope) ? call.memory.flush() : call.session.flush()),
  buffers: async ({ memory, scope }) => {
    const { write, round, hybrid, query, speculative } = memory.service.buffers;
    if (!isEmpty(scope)) return { round: await round.view(scope) };
    return { write, query, ...(hybrid && { round, hybrid }), ...(speculative && { speculative }) };
  },
  parked: ({ session, query }) => session.parked(query),
  replay: async ({ session, body }) => ({ replayed: await session.replay(body.ids) }),
  bufferedSessions: async ({ memory, scope }) => {
    const sessions = memory.service.buffers.sessions(isEmpty(scope) ? undefined : scope);
    const now = memory.service.clock.now();
    const since = ({ round, hybrid }: BufferedSession): number =>
      Math.min(round ? now - round.oldestMs : now, hybrid?.oldestAt ?? now);
    const items = sessions.toSorted((one, other) => since(one) - since(other)).slice(0, SESSIONS_MAX);
    return { items, total: sessions.length };
  },
  stats: ({ memory }) => memory.stats(),
  statsHistory: async ({ query }) => sampler.history(query),
});

export const keyHandlers: Handlers<typeof KEYS> = {
  caller: async ({ caller }) => caller.rights,
  listKeys: ({ memory, query }) => memory.keys.list(query),
  createKey: ({ memory, body, idempotencyKey }) => memory.keys.create(body, keyed(idempotencyKey)),
  revokeKey: ({ memory, params }) => memory.keys.revoke(params.id),
};

export const isEmpty = (scope: Scope): boolean => Object.keys(scope).length === 0;
