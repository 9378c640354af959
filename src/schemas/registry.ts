/** The registry and API keys. */
import { z } from "zod";
import { ACCESS } from "../stores/keys.js";
import { InstantSchema } from "./item.js";
import { Name, pageOf, SpaceKindSchema, SpaceRefSchema, whole } from "./scope.js";

/** The kinds of space by their names in registry routes. */
export const REGISTRY_KINDS = { users: "user", agents: "agent", teams: "team" } as const;
export const RegistryKindSchema = z.enum(["users", "agents", "teams"]);

export const EntrySchema = z
  .object({
    id: z.string(),
    kind: SpaceKindSchema,
    name: z.string(),
    description: z.string().exactOptional(),
    createdAt: z.number(),
    updatedAt: z.number(),
    retentionMs: z.number().exactOptional(),
  })
  .meta({ id: "Entry" });
export const EntryPageSchema = pageOf(EntrySchema).meta({ id: "EntryPage" });

export const NewEntrySchema = z
  .strictObject({
    name: Name,
    description: z.string().exactOptional(),
    ensure: z
      .boolean()
      .exactOptional()
      .meta({ description: "Return the existing entry of this name, if there is one." }),
  })
  .meta({ id: "NewEntry" });

export const EntryChangeSchema = z
  .strictObject({
    name: Name.exactOptional(),
    description: z.string().nullable().exactOptional(),
    retentionMs: whole(1).nullable().exactOptional(),
  })
  .meta({ id: "EntryChange" });

export const SessionEntrySchema = z
  .object({
    id: z.string(),
    name: z.string(),
    space: SpaceRefSchema,
    agent: z.string().exactOptional(),
    createdAt: z.number(),
    updatedAt: z.number(),
  })
  .meta({ id: "SessionEntry" });
export const SessionPageSchema = pageOf(SessionEntrySchema).meta({ id: "SessionPage" });

const KeySpaceSchema = z.union([SpaceRefSchema, SpaceKindSchema]).meta({
  id: "KeySpace",
  description: 'One space, such as { "user": "ada" }, or every space of a kind: "user", "agent" or "team".',
});

export const ApiKeySchema = z
  .object({
    id: z.string(),
    name: z.string().exactOptional(),
    access: z.enum(ACCESS),
    spaces: z.array(KeySpaceSchema),
    forgotten: z
      .array(SpaceKindSchema)
      .exactOptional()
      .meta({ description: "Kinds of space that the key named and that were forgotten since." }),
    createdAt: z.number(),
    expiresAt: z.number().exactOptional(),
    revokedAt: z.number().exactOptional(),
  })
  .meta({ id: "ApiKey" });
export const ApiKeyPageSchema = pageOf(ApiKeySchema).meta({ id: "ApiKeyPage" });

export const NewApiKeySchema = z
  .strictObject({
    name: Name.exactOptional(),
    access: z.enum(ACCESS),
    spaces: z.array(KeySpaceSchema).min(1),
    expiresAt: InstantSchema.exactOptional(),
  })
  .meta({ id: "NewApiKey" });

export const CallerSchema = z
  .object({
    access: z.enum(ACCESS),
    spaces: z.array(KeySpaceSchema),
    key: z
      .object({ id: z.string(), name: z.string().exactOptional(), expiresAt: z.number().exactOptional() })
      .exactOptional()
      .meta({ description: "Absent if the request has no key and needs none." }),
  })
  .meta({ id: "Caller" });

export const MadeApiKeySchema = z
  .object({ key: ApiKeySchema, secret: z.string().meta({ description: "Shown only once." }) })
  .meta({ id: "MadeApiKey" });
