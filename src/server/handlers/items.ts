/** What is said, items by id, and what is asked. */

import { Turn } from "../../buffers/turn.js";
import type { ITEMS } from "../../schemas/operations/items.js";
import type { RECALL } from "../../schemas/operations/recall.js";
import type { Hits } from "../../types.js";
import type { Handlers } from "../call.js";

export const itemHandlers: Handlers<typeof ITEMS> = {
  add: ({ session, body, idempotencyKey }) => session.add(body.messages, keyed(idempotencyKey)),
  addBatch: ({ session, body, idempotencyKey }) => session.addBatch(body.rounds, keyed(idempotencyKey)),
  addItems: ({ session, body, idempotencyKey }) => session.addItems(body.items, keyed(idempotencyKey)),
  commitTurn: ({ session, body }) => {
    const turn = new Turn(body.writes.length);
    for (const write of body.writes) turn.push(write);
    return session.commit(turn);
  },
  get: ({ session, body }) => session.get(body.ids),
  list: ({ session, body }) => session.list(body),
  update: async ({ session, params, body: { expectVersion, ...patch } }) => {
    const options = expectVersion === undefined ? {} : { expectVersion };
    return { version: await session.update(params.id, patch, options) };
  },
  delete: ({ session, body }) => session.delete(body.ids),
  forget: ({ session }) => session.forget(),
};

export const recallHandlers: Handlers<typeof RECALL> = {
  query: async ({ session, body: { query, ...options } }) => wireHits(await session.query(query, options)),
  context: ({ session, body }) => session.context(body),
  previewContext: ({ session, body }) => session.context({ ...body, dryRun: true }),
  ledger: ({ session }) => session.ledger(),
  windowReset: async ({ session }) => {
    await session.windowReset();
    return null;
  },
};

const keyed = (idempotencyKey: string | undefined) => (idempotencyKey === undefined ? {} : { idempotencyKey });

/** JSON has no lists with properties. */
function wireHits(hits: Hits) {
  const { partial, degraded, explanation } = hits;
  return { hits, partial, ...(degraded !== undefined && { degraded }), ...(explanation && { explanation }) };
}
