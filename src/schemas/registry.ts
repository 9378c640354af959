/** The registry and API keys. */
import { z } from "zod";
import { ACCESS } from "../stores/keys.js";
import { InstantSchema } from "./item.js";
import { Name, pageOf, SpaceKindSchema, SpaceRefSchema } from "./scope.js";

/** As the registry's routes name the kinds of space. */
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
    ensure: z.boolean().exactOptional().meta({ description: "Answer with the entry of this name if there is one." }),
  })
  .meta({ id: "NewEntry" });

export const EntryChangeSchema = z
  .strictObject({
    name: Name.exactOptional(),
    description: z.string().nullable().exactOptional(),
    retentionMs: z.number().int().min(1).nullable().exactOptional(),
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
  description: 'One space, such as { "user": "ada" }, or all of a kind: "user", "agent" or "team".',
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
      .meta({ description: "Kinds of which it named spaces that were forgotten since." }),
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

export const MadeApiKeySchema = z
  .object({ key: ApiKeySchema, secret: z.string().meta({ description: "Shown this once." }) })
  .meta({ id: "MadeApiKey" });
