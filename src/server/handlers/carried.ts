/** What agents edit, know and share. */
import { HoldfastError } from "../../errors.js";
import type { BLOCKS } from "../../schemas/operations/blocks.js";
import type { FACTS } from "../../schemas/operations/facts.js";
import type { SHARING } from "../../schemas/operations/sharing.js";
import type { Handlers } from "../call.js";

export const blockHandlers: Handlers<typeof BLOCKS> = {
  createBlock: ({ session, body }) => session.blocks.create(body),
  listBlocks: ({ session }) => session.blocks.list(),
  getBlock: async ({ session, params }) => {
    const block = await session.blocks.get(params.name);
    if (block) return block;
    throw new HoldfastError("not_found", "there is no block of this name", {
      hint: "GET /api/v1/blocks lists them",
      details: { name: params.name },
    });
  },
  editBlock: ({ session, params, body }) => session.blocks.edit(params.name, body),
  configureBlock: ({ session, params, body }) => session.blocks.configure(params.name, body),
  renameBlock: ({ session, params, body: { to, ...options } }) => session.blocks.rename(params.name, to, options),
  deleteBlock: ({ session, params }) => session.blocks.delete(params.name),
  blockHistory: ({ session, params, query }) => session.blocks.history(params.name, query),
  blockVersion: async ({ session, params }) => ({
    content: await session.blocks.version(params.name, params.version),
  }),
  blockDiff: async ({ session, params, query }) => ({
    diff: await session.blocks.diff(params.name, query.from, query.to),
  }),
  restoreBlock: ({ session, params, body: { version, ...options } }) =>
    session.blocks.restore(params.name, version, options),
  archiveBlock: async ({ session, params, body }) => (await session.blocks.archiveOverflow(params.name, body)) ?? null,
};

export const factHandlers: Handlers<typeof FACTS> = {
  upsertFact: ({ session, body }) => session.facts.upsert(body),
  getFacts: ({ session, body }) => session.facts.get(body.ids),
  listFacts: ({ session, body }) => session.facts.list(body),
  queryFacts: ({ session, body: { query, ...options } }) => session.facts.query(query, options),
  retractFact: ({ session, params }) => session.facts.retract(params.id),
  endFact: ({ session, params, body }) => session.facts.end(params.id, body),
  extractFacts: ({ session, body }) => session.facts.extract(body),
};

export const sharingHandlers: Handlers<typeof SHARING> = {
  promote: async ({ session, body: { ids, ...options } }) => ({ ids: await session.promote(ids, options) }),
  promotions: ({ session, query }) => session.promotions(query),
};
