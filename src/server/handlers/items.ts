/** Handlers for adding messages, items by id, and queries. */
import { type Handlers, keyed } from "../../calls/call.js";
import type { ITEMS } from "../../schemas/operations/items.js";
import type { RECALL } from "../../schemas/operations/recall.js";
import type { Hits } from "../../types.js";

export const itemHandlers: Handlers<typeof ITEMS> = {
  add: ({ session, body, idempotencyKey }) => session.add(body.messages, keyed(idempotencyKey)),
  addBatch: ({ session, body, idempotencyKey }) => session.addBatch(body.rounds, keyed(idempotencyKey)),
  addItems: ({ session, body, idempotencyKey }) => session.addItems(body.items, keyed(idempotencyKey)),
  commitTurn: ({ session, body, idempotencyKey }) => {
    const turn = session.turn();
    for (const write of body.writes) turn.push(write);
    return session.commit(turn, keyed(idempotencyKey));
  },
  get: ({ session, body }) => session.get(body.ids),
  list: ({ session, body }) => session.list(body),
  update: async ({ session, params, body: { expectVersion, ...patch }, idempotencyKey }) => {
    const options = { ...keyed(idempotencyKey), ...(expectVersion !== undefined && { expectVersion }) };
    return { version: await session.update(params.id, patch, options) };
  },
  delete: ({ session, body }) => session.delete(body.ids),
  forget: ({ session }) => session.forget(),
};

export const recallHandlers: Handlers<typeof RECALL> = {
  query: async ({ session, body: { query, ...options } }) => wireHits(await session.query(query, options)),
  anticipate: async ({ session, body: { query, ...options } }) => {
    await session.anticipate(query, Object.keys(options).length > 0 ? options : undefined);
    return null;
  },
  context: ({ session, body, idempotencyKey }) => session.context({ ...body, ...keyed(idempotencyKey) }),
  previewContext: ({ session, body }) => session.context({ ...body, dryRun: true }),
  ledger: ({ session }) => session.ledger(),
  windowReset: async ({ session, idempotencyKey }) => {
    await session.windowReset(keyed(idempotencyKey));
    return null;
  },
};

/** Moves the array's extra properties into an object, because JSON arrays have none. */
function wireHits(hits: Hits) {
  const { partial, degraded, explanation } = hits;
  return { hits, partial, ...(degraded !== undefined && { degraded }), ...(explanation && { explanation }) };
}
