/**
 * The contents of a space, section by section, as pages of lines. No lock is held between pages, so writers continue. An item
 * written during an export is included if its page comes later.
 */

import { FACT_STATES, type Fact, type FactSpan } from "../stores/facts.js";
import type { StoreView } from "../stores/store-view.js";
import type { Item, Page, SpaceRef } from "../types.js";
import type {
  BlockLine,
  BodyLine,
  FactLine,
  ItemLine,
  PointLine,
  PromotionLine,
  SessionLine,
  SupersededLine,
} from "./format.js";

export interface SectionRequest {
  readonly store: StoreView;
  readonly space: SpaceRef;
  readonly session: string | undefined;
  readonly limit: number;
  readonly cursor: string | undefined;
  readonly now: number;
}

export interface Section {
  readonly name: string;
  /** Whether an export of one session includes it. The other sections belong to the whole space. */
  readonly ofSession: boolean;
  readonly read: (request: SectionRequest) => Promise<Page<BodyLine>>;
}

/** In this order, lines refer only to earlier lines. */
export const SECTIONS: readonly Section[] = [
  { name: "sessions", ofSession: true, read: sessions },
  { name: "items", ofSession: true, read: items },
  { name: "blocks", ofSession: false, read: blocks },
  { name: "facts", ofSession: false, read: facts },
  { name: "superseded", ofSession: false, read: superseded },
  { name: "points", ofSession: true, read: points },
  { name: "promotions", ofSession: false, read: promotions },
];

const paged = ({ limit, cursor }: SectionRequest) => ({ limit, ...(cursor !== undefined && { cursor }) });

const pageWith = <T>(page: Page<unknown>, items: readonly T[]): Page<T> =>
  page.next === undefined ? { items } : { items, next: page.next };

async function sessions(request: SectionRequest): Promise<Page<SessionLine>> {
  const { store, space, session } = request;
  const named = session === undefined ? {} : { name: session };
  const page = await store.sessions({ kind: "session", space, ...named, ...paged(request) });
  const lines = page.items.map(({ name, agent }) => ({
    type: "session" as const,
    space,
    name,
    ...(agent !== undefined && { agent }),
  }));
  return pageWith(page, lines);
}

/** Without the items of recorded facts, which have their own lines. */
async function items(request: SectionRequest): Promise<Page<ItemLine>> {
  const { store, space, session, now } = request;
  const filter = session === undefined ? {} : { sessions: [session] };
  const page = await store.list({
    spaces: [space],
    filter,
    sortBy: "arrival",
    order: "asc",
    ...paged(request),
    now,
  });
  const factIds = page.items.filter(({ kind }) => kind === "fact").map(({ id }) => id);
  const recorded = new Set((await factsOf(request, factIds)).map(({ id }) => id));
  return pageWith(page, page.items.filter(({ id }) => !recorded.has(id)).map(itemLine));
}

function itemLine(item: Item): ItemLine {
  const { id, kind, space, session, agent, round, role, name, content, parts, metadata, tier } = item;
  return {
    type: "item",
    space,
    id,
    kind,
    ...(session !== undefined && { session }),
    ...(round !== undefined && { round }),
    ...(agent !== undefined && { agent }),
    ...(role !== undefined && { role }),
    ...(name !== undefined && { name }),
    content: parts ?? content,
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...(tier !== "episodic" && { tier }),
    occurredAt: item.occurredAt,
    ...(item.expiresAt !== undefined && { expiresAt: item.expiresAt }),
    recordedAt: item.recordedAt,
    version: item.version,
  };
}

async function blocks(request: SectionRequest): Promise<Page<BlockLine>> {
  const { store, space } = request;
  const page = await store.blockVersions({ space, ...paged(request) });
  return pageWith(
    page,
    page.items.map((version) => ({ type: "block", space, ...version }) as const),
  );
}

async function facts(request: SectionRequest): Promise<Page<FactLine>> {
  const { store, space, now } = request;
  const page = await factPage(request);
  const holding = page.items.filter(({ state }) => state === "holds").map(({ id }) => id);
  const found = holding.length > 0 ? await store.get([space], holding, now) : [];
  const itemOf = new Map(found.map((item) => [item.id, item]));
  return pageWith(
    page,
    page.items.map((fact) => factLine(fact, itemOf.get(fact.id))),
  );
}

function factLine(fact: Fact, item: Item | undefined): FactLine {
  const { id, space, category, content, confidence, pinned, state, spans, sources, recordedAt } = fact;
  return {
    type: "fact",
    ...{ space, id, category, content, confidence, pinned, state },
    spans: spans.map(({ from, to }) => ({ from, ...(to !== undefined && { to }) })),
    sources,
    ...(item?.agent !== undefined && { agent: item.agent }),
    ...(item?.expiresAt !== undefined && { expiresAt: item.expiresAt }),
    recordedAt,
  };
}

async function superseded(request: SectionRequest): Promise<Page<SupersededLine>> {
  const page = await factPage(request);
  return pageWith(
    page,
    page.items.flatMap(({ space, id, spans }) => spans.flatMap((span) => supersededLine(space, id, span))),
  );
}

const supersededLine = (space: SpaceRef, id: string, { from, supersededBy: by }: FactSpan): SupersededLine[] =>
  by === undefined ? [] : [{ type: "superseded", space, id, from, by }];

async function points(request: SectionRequest): Promise<Page<PointLine>> {
  const { store, space, session, now } = request;
  const page = await store.points({ space, ...(session !== undefined && { session }), ...paged(request), now });
  return pageWith(
    page,
    page.items.map(({ vector, ...point }) => ({ type: "point", ...point, vector: Array.from(vector) }) as const),
  );
}

async function promotions(request: SectionRequest): Promise<Page<PromotionLine>> {
  const { store, space } = request;
  const page = await store.promotions({ space, order: "asc", ...paged(request) });
  return pageWith(
    page,
    page.items.map(({ to: _, ...rest }) => ({ type: "promotion", space, ...rest }) as const),
  );
}

const factPage = (request: SectionRequest): Promise<Page<Fact>> =>
  request.store.facts({ spaces: [request.space], states: FACT_STATES, ...paged(request), now: request.now });

async function factsOf({ store, space, now }: SectionRequest, ids: readonly string[]): Promise<readonly Fact[]> {
  if (ids.length === 0) return [];
  return (await store.facts({ spaces: [space], ids, states: FACT_STATES, limit: ids.length, now })).items;
}
