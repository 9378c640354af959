/** Handlers for buffers, statistics and API keys. */

import { type Handlers, keyed } from "../../calls/call.js";
import type { BUFFERS } from "../../schemas/operations/buffers.js";
import type { KEYS } from "../../schemas/operations/keys.js";
import type { Scope } from "../../types.js";

export const bufferHandlers: Handlers<typeof BUFFERS> = {
  // `call.session` requires a scope.
  flush: (call) => (isEmpty(call.scope) ? call.memory.flush() : call.session.flush()),
  buffers: async ({ memory, scope }) => {
    const { write, round, hybrid, query, speculative } = memory.service.buffers;
    if (!isEmpty(scope)) return { round: await round.view(scope) };
    return { write, query, ...(hybrid && { round, hybrid }), ...(speculative && { speculative }) };
  },
  parked: ({ session, query }) => session.parked(query),
  replay: async ({ session, body }) => ({ replayed: await session.replay(body.ids) }),
  stats: ({ memory }) => memory.stats(),
};

export const keyHandlers: Handlers<typeof KEYS> = {
  caller: async ({ caller }) => caller.rights,
  listKeys: ({ memory, query }) => memory.keys.list(query),
  createKey: ({ memory, body, idempotencyKey }) => memory.keys.create(body, keyed(idempotencyKey)),
  revokeKey: ({ memory, params }) => memory.keys.revoke(params.id),
};

export const isEmpty = (scope: Scope): boolean => Object.keys(scope).length === 0;
