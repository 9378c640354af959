/** Items and messages, as they are given and as they are stored. */
import { z } from "zod";
import { type Added, type Item, type ItemPatch, KINDS, type NewItem, type NewMessage, ROLES, TIERS } from "../types.js";
import { Name, pageOf, SpaceRefSchema } from "./scope.js";

export const RoleSchema = z.enum(ROLES);
export const TierSchema = z.enum(TIERS);
export const KindSchema = z.enum(KINDS);

export const InstantSchema = z
  .union([z.number(), z.string()])
  .meta({ id: "Instant", description: "Epoch milliseconds, or an ISO 8601 string." });

/** Values of JSON. Depth and size are the engine's to refuse; a schema that recurses is slow and says no more. */
export const MetadataSchema = z.record(z.string(), z.unknown()).meta({
  id: "Metadata",
  description: "Any JSON object, up to 64 KiB; filters reach into it.",
}) as unknown as z.ZodType<NonNullable<NewMessage["metadata"]>>;

export const PartSchema = z
  .looseObject({ type: z.string(), text: z.string().exactOptional(), description: z.string().exactOptional() })
  .meta({ id: "Part", description: "A piece of content; `text` is searched, other types by their description." });

const ContentSchema = z.union([z.string(), z.array(PartSchema)]) as unknown as z.ZodType<NewMessage["content"]>;

const messageFields = {
  id: Name.exactOptional().meta({ description: "Your own id, unique in the space; a UUIDv7 is made if left out." }),
  role: RoleSchema,
  name: Name.exactOptional().meta({ description: "Who speaks, where the role is not enough." }),
  content: ContentSchema,
  occurredAt: InstantSchema.exactOptional().meta({ description: "When it was said; now if left out." }),
  metadata: MetadataSchema.exactOptional(),
  tier: TierSchema.exactOptional(),
  expiresAt: InstantSchema.exactOptional().meta({ description: "From then on it is in no answer." }),
};

export const NewMessageSchema = z
  .strictObject(messageFields)
  .meta({ id: "NewMessage" }) satisfies z.ZodType<NewMessage>;

export const NewItemSchema = z
  .strictObject({ ...messageFields, role: RoleSchema.exactOptional(), kind: z.enum(["knowledge", "fact", "overflow"]) })
  .meta({ id: "NewItem" }) satisfies z.ZodType<NewItem>;

const itemFields = {
  id: z.string(),
  kind: KindSchema,
  space: SpaceRefSchema,
  session: z.string().exactOptional(),
  sessionId: z.string().exactOptional(),
  agent: z.string().exactOptional(),
  sequence: z.number().int().exactOptional(),
  round: z.number().int().exactOptional(),
  role: RoleSchema.exactOptional(),
  name: z.string().exactOptional(),
  content: z.string(),
  parts: z.array(PartSchema).exactOptional() as unknown as z.ZodExactOptional<z.ZodType<NonNullable<Item["parts"]>>>,
  metadata: MetadataSchema,
  tier: TierSchema,
  occurredAt: z.number(),
  recordedAt: z.number(),
  updatedAt: z.number(),
  expiresAt: z.number().exactOptional(),
  version: z.number().int(),
};
export const ItemFields = itemFields;

export const ItemSchema = z.object(itemFields).meta({ id: "Item" });
export const ItemPageSchema = pageOf(ItemSchema).meta({ id: "ItemPage" });

const nullable = <T extends z.ZodType>(schema: T) => schema.nullable().exactOptional();

const patchFields = {
  content: ContentSchema.exactOptional(),
  role: RoleSchema.exactOptional(),
  name: nullable(Name),
  metadata: MetadataSchema.exactOptional(),
  tier: TierSchema.exactOptional(),
  occurredAt: InstantSchema.exactOptional(),
  expiresAt: nullable(InstantSchema),
};

const ItemPatchSchema = z.strictObject(patchFields) satisfies z.ZodType<ItemPatch>;

export const ItemEditSchema = ItemPatchSchema.extend({
  expectVersion: z
    .number()
    .int()
    .min(1)
    .exactOptional()
    .meta({ description: "Refused with 409 if it has another one." }),
}).meta({ id: "ItemEdit" });

export const AddedSchema = z
  .object({
    ids: z.array(z.string()),
    sequences: z.array(z.number().int()),
    commit: z.number().int(),
    repeated: z.boolean().meta({ description: "True: this was a retry, and nothing new was written." }),
  })
  .meta({ id: "Added" }) satisfies z.ZodType<Added>;

export const IdsSchema = z.strictObject({ ids: z.array(Name) }).meta({ id: "Ids" });

export const ReceiptSchema = z
  .object({
    items: z.number().int(),
    sessions: z.number().int(),
    entries: z.number().int(),
    blocks: z.number().int(),
    facts: z.number().int(),
    missing: z.array(z.string()),
    purged: z.boolean().meta({ description: "True: the bytes were checked to be gone from the file." }),
    left: z.array(z.object({ what: z.string(), why: z.string() })),
    commit: z.number().int(),
  })
  .meta({ id: "ForgetReceipt" });
