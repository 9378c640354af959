/** Names, spaces and scopes. On the wire the scope is in the query string: `?user=ada&session=first`. */
import { z } from "zod";
import { NAME_UNITS_MAX, RESULTS_MAX } from "../input/limits.js";
import type { Scope, SpaceRef } from "../types.js";

// The engine validates values (src/input). Request schemas check only the shape, and document the rest, so that HTTP accepts
// and refuses exactly what the library does, with the same codes.

/** Ids and the names of users, agents, teams and sessions. */
export const Name = z.string().meta({ minLength: 1, maxLength: NAME_UNITS_MAX });

/** An integer in a range. */
export const whole = (minimum: number, maximum?: number) =>
  z.number().meta({ type: "integer", minimum, ...(maximum !== undefined && { maximum }) });

/** One of a closed set. */
export const choice = <const T extends string>(choices: readonly T[]) =>
  z.string().meta({ enum: [...choices] }) as unknown as z.ZodType<T>;

/** The number of items of a page, or of results. */
export const Count = whole(1, RESULTS_MAX);

export const Cursor = z.string().meta({ minLength: 1, description: "The `next` of the previous page." });

export const SPACE_KINDS = ["user", "agent", "team"] as const;
export const SpaceKindSchema = z.enum(SPACE_KINDS);

export const SpaceRefSchema = z
  .union([z.strictObject({ user: Name }), z.strictObject({ agent: Name }), z.strictObject({ team: Name })])
  .meta({
    id: "SpaceRef",
    description: "The unit of isolation: exactly one of user, agent or team.",
  }) satisfies z.ZodType<SpaceRef>;

const scopeFields = {
  user: Name.exactOptional().meta({ description: "The user that the memory belongs to." }),
  agent: Name.exactOptional().meta({ description: "The agent that acts." }),
  team: Name.exactOptional().meta({ description: "The team that the memory belongs to, if there is no user." }),
  session: Name.exactOptional().meta({ description: "The session's name." }),
  space: SpaceKindSchema.exactOptional().meta({
    description: "Which of them owns the items. Default: the user, else the team, else the agent.",
  }),
};

export const ScopeSchema = z.strictObject(scopeFields).meta({ id: "Scope" }) satisfies z.ZodType<Scope>;

/** The scope's keys in the query string, in display order. */
export const SCOPE_KEYS = ["user", "agent", "team", "session", "space"] as const satisfies readonly (keyof Scope)[];

export const PageFields = {
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(RESULTS_MAX)
    .exactOptional()
    .meta({ description: "Maximum number of items. Default: 100." }),
  cursor: Cursor.exactOptional(),
};

export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({
    items: z.array(item),
    next: z.string().exactOptional().meta({ description: "Cursor of the next page; absent on the last page." }),
  });
