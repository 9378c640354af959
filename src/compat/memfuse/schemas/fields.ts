/**
 * Shared by the schemas of the MemFuse dialect. Field names are MemFuse's. As in MemFuse, unknown fields of a body are ignored,
 * and null means absent.
 */
import { z } from "zod";
import { NAME_UNITS_MAX } from "../../../input/limits.js";
import { Name } from "../../../schemas/scope.js";

export const TAG = "MemFuse";

/** A time in ISO 8601. */
export const Time = z.string().meta({ format: "date-time" });

export const byUser = z.strictObject({ user_id: Name });
export const bySession = z.strictObject({ session_id: Name });

/** A registry id, or "name:" and any name for a key that is bound to no agent. */
export const AgentId = z
  .string()
  .min(1)
  .max(NAME_UNITS_MAX + 5);

export const Ids = z.array(Name);

/** MemFuse returns everything. Here a page has the maximum length and a cursor for the next. */
export const pageFields = {
  limit: z.coerce.number().int().min(1).max(1000).default(1000),
  cursor: z.string().min(1).exactOptional().meta({ description: "The `next` of the previous page." }),
};

export const next = z.string().exactOptional().meta({ description: "Cursor of the next page, if there is one." });

export const order = z.enum(["asc", "desc"]).default("desc");

/** MemFuse clamps limits to 100, and so do we. */
export const LIMIT_MAX = 100;
export const upTo100 = z.coerce
  .number()
  .int()
  .min(1)
  .default(20)
  .meta({ description: "Maximum number, up to 100; larger values count as 100." });

export const STORE_TYPES = ["vector", "keyword", "graph", "hybrid"] as const;
export type StoreType = (typeof STORE_TYPES)[number];
