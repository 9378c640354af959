/** Names, spaces and scopes. On the wire a scope stands in the query string: `?user=ada&session=first`. */
import { z } from "zod";
import { NAME_UNITS_MAX } from "../input/limits.js";
import type { Scope, SpaceRef } from "../types.js";

/** Ids and the names of users, agents, teams and sessions. */
export const Name = z.string().min(1).max(NAME_UNITS_MAX);

export const SPACE_KINDS = ["user", "agent", "team"] as const;
export const SpaceKindSchema = z.enum(SPACE_KINDS);

export const SpaceRefSchema = z
  .union([z.strictObject({ user: Name }), z.strictObject({ agent: Name }), z.strictObject({ team: Name })])
  .meta({
    id: "SpaceRef",
    description: "What isolates: exactly one of user, agent or team.",
  }) satisfies z.ZodType<SpaceRef>;

const scopeFields = {
  user: Name.exactOptional().meta({ description: "Whose memory it is." }),
  agent: Name.exactOptional().meta({ description: "Which agent acts." }),
  team: Name.exactOptional().meta({ description: "The team whose memory it is, if there is no user." }),
  session: Name.exactOptional().meta({ description: "The session, by name." }),
  space: SpaceKindSchema.exactOptional().meta({
    description: "Which of them owns the items; the user, else the team, else the agent if left out.",
  }),
};

export const ScopeSchema = z.strictObject(scopeFields).meta({ id: "Scope" }) satisfies z.ZodType<Scope>;

/** The keys of the query string that say where, in the order in which they are shown. */
export const SCOPE_KEYS = ["user", "agent", "team", "session", "space"] as const satisfies readonly (keyof Scope)[];

export const PageFields = {
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(1000)
    .exactOptional()
    .meta({ description: "At most so many; 100 if left out." }),
  cursor: z.string().min(1).exactOptional().meta({ description: "The `next` of the page before." }),
};

export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({
    items: z.array(item),
    next: z.string().exactOptional().meta({ description: "The cursor of the next page; absent on the last one." }),
  });
