/** Statistics, turns, promotions, and items that wait. */
import { z } from "zod";
import { CONDITIONS, TARGET_NAMES } from "../buffers/health.js";
import { ROUND_STATES } from "../buffers/round-buffer.js";
import type { BufferedWrite } from "../buffers/turn.js";
import { TRANSFER_REASONS } from "../events/event.js";
import { SERIES_NAMES, type SeriesName } from "../metrics/series.js";
import { anyBlockEdit } from "./block.js";
import { NewMessageSchema } from "./item.js";
import { newPointFields } from "./point.js";
import { Name, pageOf, SpaceRefSchema } from "./scope.js";

export const FlushReportSchema = z.object({ pending: z.number(), parked: z.number() }).meta({ id: "FlushReport" });

const RoundViewSchema = z
  .object({ currentTokens: z.number(), roundCount: z.number(), messageCount: z.number() })
  .meta({ id: "RoundView", description: "Items of a session that wait to be embedded." });

/** Counters of the parts. New ones may appear, so unknown keys are allowed. */
const counters: z.ZodType<object> = z.looseObject({});

export const BuffersSchema = z
  .object({
    write: counters.exactOptional(),
    round: z.union([RoundViewSchema, counters]).exactOptional(),
    hybrid: counters.exactOptional(),
    query: counters.exactOptional(),
    speculative: counters.exactOptional(),
  })
  .meta({ id: "Buffers" });

const BufferedSessionSchema = z
  .object({
    space: SpaceRefSchema,
    session: z.string().exactOptional().meta({ description: "Absent: the items of the space outside any session." }),
    round: z
      .object({
        state: z
          .enum(ROUND_STATES)
          .meta({ description: "gathering: below every threshold · due: it waits for its turn." }),
        reason: z.enum(TRANSFER_REASONS).exactOptional().meta({ description: "Why it is due." }),
        rounds: z.number(),
        tokens: z.number().meta({ description: "An upper bound; 0 where they are not counted." }),
        oldestMs: z.number().meta({ description: "How long the oldest has waited." }),
      })
      .exactOptional()
      .meta({ description: "What waits to be embedded." }),
    hybrid: z
      .object({
        items: z.number(),
        rounds: z.number(),
        chunks: z.number(),
        bytes: z.number(),
        oldestAt: z.number().meta({ description: "When the oldest item was added, in epoch milliseconds." }),
      })
      .exactOptional()
      .meta({ description: "What is embedded and waits to be written." }),
  })
  .meta({ id: "BufferedSession" });

export const BufferedSessionsSchema = z
  .object({
    items: z.array(BufferedSessionSchema),
    total: z.number().meta({ description: "The number of such sessions; at most 100 are listed." }),
  })
  .meta({ id: "BufferedSessions" });

const TargetSchema = z
  .object({
    area: z.enum(["latency", "memory", "health"]),
    name: z.enum(TARGET_NAMES),
    goal: z
      .object({ from: z.number().exactOptional(), to: z.number().exactOptional(), alert: z.number().exactOptional() })
      .meta({ description: "The healthy range. Without `to` it is a minimum, and the alert is below `alert`." }),
    condition: z.enum(CONDITIONS),
    value: z.number(),
    unit: z.string(),
  })
  .meta({ id: "Target", description: "A target with what was measured. Latencies: 95th percentile." });

export const StatsSchema = z
  .object({
    write: counters,
    query: counters,
    speculative: counters.exactOptional(),
    store: counters,
    meaning: counters.exactOptional(),
    latencies: counters,
    process: counters,
    health: counters,
    targets: z.array(TargetSchema),
    ignoredVariables: z.array(z.string()),
  })
  .meta({ id: "Stats" });

const column = z.array(z.number().nullable());
export const HistoryQuerySchema = z.strictObject({
  since: z.coerce
    .number()
    .exactOptional()
    .meta({ description: "Only samples after this time, in epoch milliseconds. Default: all, at most 6 hours." }),
  series: z.enum(SERIES_NAMES).exactOptional().meta({ description: "Only this series. Default: all." }),
});

export const StatsHistorySchema = z
  .object({
    everyMs: z.number(),
    at: z.array(z.number()).meta({ description: "The time of each sample, in epoch milliseconds." }),
    series: z
      .object(Object.fromEntries(SERIES_NAMES.map((name) => [name, column])) as { [name in SeriesName]: typeof column })
      .partial()
      .meta({ description: "One value per sample; null where there is none." }),
  })
  .meta({ id: "StatsHistory" });

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
    ids: z.array(Name).meta({ minItems: 1 }),
    to: SpaceRefSchema,
    reason: z.string(),
    actor: z.string().exactOptional(),
  })
  .meta({ id: "Promote" });

/** A write of a turn. For `edit_block`, the fields besides the block's name are checked like an edit. */
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
      supersedes: z.union([Name, z.array(Name)]).exactOptional(),
    }),
    z.strictObject({ op: z.literal("store_embedding"), ...newPointFields }),
    z.strictObject({ op: z.literal("edit_block"), block: Name, ...anyBlockEdit }),
  ])
  .meta({ id: "BufferedWrite" }) as unknown as z.ZodType<BufferedWrite>;
export const TurnSchema = z.strictObject({ writes: z.array(BufferedWriteSchema) }).meta({ id: "Turn" });
