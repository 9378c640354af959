/** Facts. */
import { z } from "zod";
import type { EndOptions, FactQueryOptions, FactsOptions, NewFact } from "../facts/fact-input.js";
import { FACT_STATES } from "../stores/facts.js";
import { InstantSchema } from "./item.js";
import { SpacesSchema } from "./query.js";
import { Count, Cursor, choice, Name, pageOf, SpaceRefSchema } from "./scope.js";

const source = z.strictObject({ session: z.string().exactOptional(), message: z.string().exactOptional() });
const category = z.union([z.string(), z.array(z.string())]).exactOptional();
const state = z.enum(FACT_STATES);

export const NewFactSchema = z
  .strictObject({
    category: z.string().meta({ minLength: 1 }),
    content: z.string().meta({ minLength: 1 }),
    confidence: z.number().meta({ minimum: 0, maximum: 1 }).exactOptional(),
    source: source.exactOptional(),
    supersedes: z.union([Name, z.array(Name)]).exactOptional(),
    validFrom: InstantSchema.exactOptional(),
    pinned: z.boolean().exactOptional(),
    force: z.boolean().exactOptional(),
  })
  .meta({ id: "NewFact" }) satisfies z.ZodType<NewFact>;

export const EndFactSchema = z
  .strictObject({ at: InstantSchema.exactOptional() })
  .meta({ id: "EndFact" }) satisfies z.ZodType<EndOptions>;

export const FactsOptionsSchema = z
  .strictObject({
    category,
    pinned: z.boolean().exactOptional(),
    state: z.union([choice(FACT_STATES), z.array(choice(FACT_STATES))]).exactOptional(),
    asOf: InstantSchema.exactOptional(),
    spaces: SpacesSchema.exactOptional(),
    limit: Count.exactOptional(),
    cursor: Cursor.exactOptional(),
  })
  .meta({ id: "FactsOptions" }) satisfies z.ZodType<FactsOptions>;

const factQuery = {
  category,
  asOf: InstantSchema.exactOptional(),
  spaces: SpacesSchema.exactOptional(),
  topK: Count.exactOptional(),
};
export const FactQuerySchema = z
  .strictObject({ query: z.string(), ...factQuery })
  .meta({ id: "FactQuery" }) satisfies z.ZodType<FactQueryOptions & { readonly query: string }>;

export const FactSchema = z
  .object({
    id: z.string(),
    space: SpaceRefSchema,
    category: z.string(),
    content: z.string(),
    confidence: z.number(),
    pinned: z.boolean(),
    state,
    spans: z.array(
      z.object({ from: z.number(), to: z.number().exactOptional(), supersededBy: z.string().exactOptional() }),
    ),
    sources: z.array(z.object({ session: z.string().exactOptional(), message: z.string().exactOptional() })),
    recordedAt: z.number(),
    updatedAt: z.number(),
    version: z.number(),
  })
  .meta({ id: "Fact" });

export const FactPageSchema = pageOf(FactSchema).meta({ id: "FactPage" });
