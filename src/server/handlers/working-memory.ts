/** Handlers for blocks, facts, points and promotions. */

import { type Handlers, keyed } from "../../calls/call.js";
import { HoldfastError } from "../../errors.js";
import type { BLOCKS } from "../../schemas/operations/blocks.js";
import type { FACTS } from "../../schemas/operations/facts.js";
import type { POINTS } from "../../schemas/operations/points.js";
import type { SHARING } from "../../schemas/operations/sharing.js";
import type { VectorPoint } from "../../stores/points.js";

export const blockHandlers: Handlers<typeof BLOCKS> = {
  createBlock: ({ session, body, idempotencyKey }) => session.blocks.create(body, keyed(idempotencyKey)),
  listBlocks: ({ session }) => session.blocks.list(),
  getBlock: async ({ session, params }) => {
    const block = await session.blocks.get(params.name);
    if (block) return block;
    throw new HoldfastError("not_found", "no such block", {
      hint: "GET /api/v1/blocks lists them",
      details: { name: params.name },
    });
  },
  editBlock: ({ session, params, body, idempotencyKey }) =>
    session.blocks.edit(params.name, body, keyed(idempotencyKey)),
  configureBlock: ({ session, params, body, idempotencyKey }) =>
    session.blocks.configure(params.name, body, keyed(idempotencyKey)),
  renameBlock: ({ session, params, body: { to, ...options }, idempotencyKey }) =>
    session.blocks.rename(params.name, to, { ...options, ...keyed(idempotencyKey) }),
  deleteBlock: ({ session, params }) => session.blocks.delete(params.name),
  blockHistory: ({ session, params, query }) => session.blocks.history(params.name, query),
  blockVersion: async ({ session, params }) => ({
    content: await session.blocks.version(params.name, params.version),
  }),
  blockDiff: async ({ session, params, query }) => ({
    diff: await session.blocks.diff(params.name, query.from, query.to),
  }),
  restoreBlock: ({ session, params, body: { version, ...options }, idempotencyKey }) =>
    session.blocks.restore(params.name, version, { ...options, ...keyed(idempotencyKey) }),
  archiveBlock: async ({ session, params, body, idempotencyKey }) =>
    (await session.blocks.archiveOverflow(params.name, { ...body, ...keyed(idempotencyKey) })) ?? null,
};

export const factHandlers: Handlers<typeof FACTS> = {
  upsertFact: ({ session, body, idempotencyKey }) => session.facts.upsert(body, keyed(idempotencyKey)),
  getFacts: ({ session, body }) => session.facts.get(body.ids),
  listFacts: ({ session, body }) => session.facts.list(body),
  queryFacts: ({ session, body: { query, ...options } }) => session.facts.query(query, options),
  retractFact: ({ session, params, idempotencyKey }) => session.facts.retract(params.id, keyed(idempotencyKey)),
  endFact: ({ session, params, body, idempotencyKey }) =>
    session.facts.end(params.id, { ...body, ...keyed(idempotencyKey) }),
  extractFacts: ({ session, body }) => session.facts.extract(body),
};

export const pointHandlers: Handlers<typeof POINTS> = {
  searchPoints: ({ session, body: { collection, vector, ...options } }) =>
    session.points.search(collection, vector, options),
  getPoints: async ({ session, body }) => (await session.points.get(body.collection, body.ids)).map(wirePoint),
  listPoints: async ({ session, body: { collection, ...options } }) => {
    const page = await session.points.list(collection, options);
    return { ...page, items: page.items.map(wirePoint) };
  },
  deletePoints: ({ session, body }) => session.points.delete(body.collection, body.ids),
};

/** JSON has no typed arrays. */
const wirePoint = (point: VectorPoint) => ({ ...point, vector: Array.from(point.vector) });

export const sharingHandlers: Handlers<typeof SHARING> = {
  promote: async ({ session, body: { ids, ...options }, idempotencyKey }) => ({
    ids: await session.promote(ids, { ...options, ...keyed(idempotencyKey) }),
  }),
  promotions: ({ session, query }) => session.promotions(query),
};
