/** Queries, lists, contexts, and their results. */
import { z } from "zod";
import type { ContextOptions } from "../input/context.js";
import { CONTEXT_PARTS } from "../input/context.js";
import type { ListOptions } from "../input/list.js";
import type { QueryOptions } from "../input/query.js";
import { ARMS } from "../input/question.js";
import { ORDERS, SORTS } from "../options.js";
import { type Filter, KINDS, ROLES, TIERS } from "../types.js";
import { anyObject, InstantSchema, ItemFields, KindSchema } from "./item.js";
import { Count, Cursor, choice, Name, SpaceRefSchema, whole } from "./scope.js";

const oneOrMore = <T extends z.ZodType>(schema: T) => z.union([schema, z.array(schema)]);
const scalar = { type: ["string", "number", "boolean", "null"] };

const filterFields = {
  session: oneOrMore(Name).exactOptional(),
  agent: oneOrMore(Name).exactOptional(),
  role: oneOrMore(choice(ROLES)).exactOptional(),
  kind: oneOrMore(choice(KINDS)).exactOptional(),
  tier: oneOrMore(choice(TIERS)).exactOptional(),
  from: InstantSchema.exactOptional().meta({ description: "Occurred at or after." }),
  to: InstantSchema.exactOptional().meta({ description: "Occurred before." }),
  metadata: anyObject({
    description: "Exact values by key; dots in a key descend into objects.",
    additionalProperties: { anyOf: [scalar, { type: "array", items: scalar }] },
  }).exactOptional() as unknown as z.ZodExactOptional<z.ZodType<NonNullable<Filter["metadata"]>>>,
};

const order = choice(ORDERS);

export const ListOptionsSchema = z
  .strictObject({
    ...filterFields,
    limit: Count.exactOptional(),
    sortBy: choice(["arrival", "timestamp"]).exactOptional(),
    order: order.exactOptional(),
    cursor: Cursor.exactOptional(),
    bufferOnly: z.boolean().exactOptional().meta({ description: "Only items that are not embedded yet." }),
    start: Name.exactOptional().meta({ description: "The id of the item that begins the page, instead of a cursor." }),
    embedding: z.boolean().exactOptional().meta({ description: "Whether each item says if it is embedded." }),
  })
  .meta({ id: "ListOptions" }) satisfies z.ZodType<ListOptions>;

export const SpacesSchema = z.array(SpaceRefSchema).meta({ minItems: 1 });

const queryFields = {
  ...filterFields,
  topK: Count.exactOptional(),
  offset: whole(0).exactOptional(),
  sortBy: choice(SORTS).exactOptional(),
  order: order.exactOptional(),
  within: choice(["user", "space", "session", "agent"]).exactOptional(),
  spaces: SpacesSchema.exactOptional().meta({ description: "The spaces to search instead of the scope's own." }),
  askedAt: InstantSchema.exactOptional(),
  recency: z.number().meta({ minimum: 0, maximum: 1 }).exactOptional(),
  deadlineMs: whole(0).exactOptional(),
  bufferOnly: z.boolean().exactOptional(),
  by: choice(ARMS).exactOptional().meta({ description: "Search by words only, or by meaning only." }),
  explain: z.union([z.boolean(), z.array(Name)]).exactOptional(),
};

export const QuerySchema = z
  .strictObject({ query: z.string(), ...queryFields })
  .meta({ id: "Query" }) satisfies z.ZodType<QueryOptions & { readonly query: string }>;

const arm = z.object({ score: z.number(), share: z.number() });

const WhySchema = z.object({
  words: arm.exactOptional(),
  meaning: arm.exactOptional(),
  exact: z.number(),
  role: z.number(),
  date: z.number(),
  session: z.number(),
  recency: z.number(),
});

export const HitSchema = z
  .object({
    ...ItemFields,
    score: z.number(),
    level: z.enum(["round", "hybrid", "store"]),
    scope: z.enum(["in_session", "cross_session"]),
    why: WhySchema.exactOptional(),
  })
  .meta({ id: "Hit" });

const ExplanationSchema = z
  .object({
    question: z.object({
      text: z.string(),
      terms: z.array(z.string()),
      embedded: z.string().exactOptional(),
      dates: z.array(z.object({ from: z.number(), to: z.number() })).exactOptional(),
      refersBack: z.boolean(),
    }),
    origin: z.enum(["answers", "rankings", "victims", "ahead", "shared", "misses"]).meta({
      description: "Where the ranking came from: a cache, work ahead, an equal search under way, or a search (misses).",
    }),
    sources: z.array(
      z.object({
        source: z.enum(["query", "round", "hybrid", "words", "meaning", "index"]),
        asked: z.boolean(),
        why: z.string().exactOptional(),
        found: z.number(),
        ms: z.number(),
      }),
    ),
    candidates: z.number(),
    missing: z.array(
      z.object({
        id: z.string(),
        why: z.string(),
        ranked: z
          .object({ place: z.number().int(), score: z.number(), why: WhySchema })
          .exactOptional()
          .meta({ description: "Its place in the ranking, from 1. Absent if it was not ranked." }),
      }),
    ),
  })
  .meta({ id: "Explanation" });

/** JSON arrays have no properties, so the hits are a field. */
export const HitsSchema = z
  .object({
    hits: z.array(HitSchema),
    partial: z.boolean(),
    degraded: z.string().exactOptional(),
    explanation: ExplanationSchema.exactOptional(),
  })
  .meta({ id: "Hits" });

const weight = z.number().meta({ minimum: 0 }).exactOptional();

export const ContextOptionsSchema = z
  .strictObject({
    query: z.string().exactOptional(),
    budgetTokens: whole(1).exactOptional(),
    counter: z.string().exactOptional(),
    shares: z.strictObject({ blocks: weight, facts: weight, turns: weight, recall: weight }).exactOptional(),
    turns: whole(0).exactOptional(),
    topK: Count.exactOptional(),
    spaces: SpacesSchema.exactOptional(),
    asOf: InstantSchema.exactOptional(),
    askedAt: InstantSchema.exactOptional(),
    fresh: z.boolean().exactOptional(),
    dryRun: z.boolean().exactOptional(),
    deadlineMs: whole(0).exactOptional(),
  })
  .meta({ id: "ContextOptions" }) satisfies z.ZodType<ContextOptions>;

const part = z.enum(CONTEXT_PARTS);
const contextItem = z.object({
  part,
  kind: KindSchema,
  id: z.string(),
  space: SpaceRefSchema,
  version: z.number(),
  text: z.string(),
  tokens: z.number(),
  cut: z.boolean(),
});

export const ContextSchema = z
  .object({
    prefix: z.string(),
    tail: z.string(),
    tokens: z.object({
      prefix: z.number(),
      tail: z.number(),
      total: z.number(),
      budget: z.number(),
      saved: z.number(),
    }),
    added: z.array(contextItem),
    changed: z.array(contextItem),
    retracted: z.array(z.object({ kind: KindSchema, id: z.string(), space: SpaceRefSchema })),
    left: z.array(z.object({ part, id: z.string(), why: z.string() })),
    partial: z.boolean(),
    degraded: z.string().exactOptional(),
  })
  .meta({ id: "Context" });

export const LedgerSchema = z
  .object({
    entries: z.array(z.object({ ref: z.string(), version: z.number(), tokens: z.number() })),
    saved: z.number(),
    resets: z.number(),
  })
  .meta({ id: "Ledger" });
