/**
 * What the schemas of the MemFuse dialect share. Names of fields are MemFuse's. As there, a body may hold fields that are
 * not known, which are ignored, and null where a field could be left out.
 */
import { z } from "zod";
import { Name } from "../scope.js";

export const TAG = "MemFuse";

/** A moment, in ISO 8601. */
export const Time = z.string().meta({ format: "date-time" });

export const byUser = z.strictObject({ user_id: Name });
export const bySession = z.strictObject({ session_id: Name });

export const Ids = z.array(Name);

/** MemFuse gives all there is. Here a page is as long as pages can be, and says how to go on. */
export const pageFields = {
  limit: z.coerce.number().int().min(1).max(1000).default(1000),
  cursor: z.string().min(1).exactOptional().meta({ description: "The `next` of the page before." }),
};

export const next = z.string().exactOptional().meta({ description: "The cursor of the next page, if there is one." });

export const order = z.enum(["asc", "desc"]).default("desc");

/** MemFuse answers with 100 where more are asked for, and so do we. */
export const LIMIT_MAX = 100;
export const upTo100 = z.coerce
  .number()
  .int()
  .min(1)
  .default(20)
  .meta({ description: "At most so many; more than 100 count as 100." });

export const STORE_TYPES = ["vector", "keyword", "graph", "hybrid"] as const;
export type StoreType = (typeof STORE_TYPES)[number];
