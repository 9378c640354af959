/** Points: vectors of callers' own. */
import { z } from "zod";
import { DIMENSIONS_MAX } from "../input/limits.js";
import type { NewPoint } from "../input/points.js";
import type { Json } from "../types.js";
import { SpacesSchema } from "./query.js";
import { Count, Cursor, Name, pageOf, SpaceRefSchema } from "./scope.js";

const Vector = z
  .array(z.number())
  .meta({ minItems: 1, maxItems: DIMENSIONS_MAX, description: "Kept as 32-bit floats. Must not be all zeros." });

const Payload = z.unknown().meta({ description: "Any JSON value up to 64 KiB." }) as unknown as z.ZodType<Json>;

export const newPointFields = {
  collection: Name,
  pointId: Name,
  vector: Vector,
  payload: Payload.exactOptional(),
} satisfies { readonly [key in keyof NewPoint]: z.ZodType };

export const PointSearchSchema = z
  .strictObject({
    collection: Name,
    vector: Vector,
    topK: Count.exactOptional(),
    spaces: SpacesSchema.exactOptional(),
  })
  .meta({ id: "PointSearch" });

export const PointIdsSchema = z.strictObject({ collection: Name, ids: z.array(Name) }).meta({ id: "PointIds" });

export const PointListSchema = z
  .strictObject({ collection: Name, limit: Count.exactOptional(), cursor: Cursor.exactOptional() })
  .meta({ id: "PointList" });

const pointFields = {
  space: SpaceRefSchema,
  collection: z.string(),
  id: z.string(),
  session: z.string().exactOptional().meta({ description: "The session with which it is forgotten." }),
  payload: Payload,
  storedAt: z.number(),
};

export const PointHitSchema = z
  .object({ ...pointFields, score: z.number().meta({ description: "The cosine, from -1 to 1." }) })
  .meta({ id: "PointHit" });

export const PointSchema = z.object({ ...pointFields, vector: z.array(z.number()) }).meta({ id: "Point" });

export const PointPageSchema = pageOf(PointSchema).meta({ id: "PointPage" });
