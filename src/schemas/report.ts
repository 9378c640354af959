/** What the memory tells about itself, turns, promotions, and what waits. */
import { z } from "zod";
import type { BufferedWrite } from "../buffers/turn.js";
import { NewMessageSchema } from "./item.js";
import { Name, pageOf, SpaceRefSchema } from "./scope.js";

export const FlushReportSchema = z.object({ pending: z.number(), parked: z.number() }).meta({ id: "FlushReport" });

export const RoundViewSchema = z
  .object({ currentTokens: z.number(), roundCount: z.number(), messageCount: z.number() })
  .meta({ id: "RoundView", description: "What of a session waits to be embedded." });

/** Counters of the parts; their names are those of the seeds. They grow with the product, so unknown ones may appear. */
const counters: z.ZodType<object> = z.looseObject({});

export const BuffersSchema = z
  .object({
    write: counters.exactOptional(),
    round: RoundViewSchema.exactOptional(),
    hybrid: counters.exactOptional(),
    query: counters.exactOptional(),
  })
  .meta({ id: "Buffers" });

export const StatsSchema = z
  .object({
    write: counters,
    query: counters,
    store: counters,
    meaning: counters.exactOptional(),
    latencies: counters,
    health: counters,
  })
  .meta({ id: "Stats" });

export const ParkedPageSchema = pageOf(
  z
    .object({
      space: SpaceRefSchema,
      session: z.string().exactOptional(),
      id: z.string(),
      version: z.number(),
      attempts: z.number(),
      error: z.string(),
      parkedAt: z.number(),
      retryAt: z.number().exactOptional(),
    })
    .meta({ id: "ParkedItem" }),
).meta({ id: "ParkedPage" });

export const PromotionPageSchema = pageOf(
  z
    .object({
      id: z.string(),
      from: SpaceRefSchema.exactOptional(),
      to: SpaceRefSchema,
      actor: z.string().exactOptional(),
      reason: z.string(),
      at: z.number(),
    })
    .meta({ id: "Promotion" }),
).meta({ id: "PromotionPage" });

export const PromoteSchema = z
  .strictObject({
    ids: z.array(Name).min(1),
    to: SpaceRefSchema,
    reason: z.string(),
    actor: z.string().exactOptional(),
  })
  .meta({ id: "Promote" });

/** A write of a turn. What `edit_block` says beside the block's name is checked as an edit is. */
const BufferedWriteSchema = z
  .discriminatedUnion("op", [
    z.strictObject({ op: z.literal("save_message"), message: NewMessageSchema }),
    z.strictObject({
      op: z.literal("upsert_fact"),
      category: z.string(),
      content: z.string(),
      confidence: z.number(),
      sourceSession: Name.exactOptional(),
      sourceMessage: Name.exactOptional(),
      supersedes: Name.exactOptional(),
    }),
    z.looseObject({ op: z.literal("edit_block"), block: Name }),
  ])
  .meta({ id: "BufferedWrite" }) as unknown as z.ZodType<BufferedWrite>;
export const TurnSchema = z.strictObject({ writes: z.array(BufferedWriteSchema).min(1) }).meta({ id: "Turn" });
