/** Items and messages, as sent and as stored. */
import { z } from "zod";
import { NAME_UNITS_MAX } from "../input/limits.js";
import {
  type Added,
  type Item,
  type ItemPatch,
  KINDS,
  type NewItem,
  type NewMessage,
  type Part,
  ROLES,
  TIERS,
} from "../types.js";
import { choice, Name, pageOf, SpaceRefSchema, whole } from "./scope.js";

export const RoleSchema = z.enum(ROLES);
const TierSchema = z.enum(TIERS);
export const KindSchema = z.enum(KINDS);

export const InstantSchema = z
  .union([z.number(), z.string()])
  .meta({ id: "Instant", description: "Epoch milliseconds, or an ISO 8601 string." });

/**
 * An object with any keys, passed on unchanged: zod's copy of a record or loose object drops `__proto__`. The engine checks
 * the contents.
 */
export const anyObject = (described: { readonly [key: string]: unknown } = {}) =>
  z
    .unknown()
    .refine((value) => typeof value === "object" && value !== null && !Array.isArray(value), "expected an object")
    .meta({ type: "object", additionalProperties: {}, ...described });

export const MetadataSchema = anyObject({
  id: "Metadata",
  description: "Any JSON object up to 64 KiB. Filters can match its values.",
}) as unknown as z.ZodType<NonNullable<NewMessage["metadata"]>>;

const text = { type: "string" };
const PartSchema = anyObject({
  id: "Part",
  description: "A part of the content. The text of `text` parts is searchable, and the description of other types.",
  properties: { type: text, text, description: text },
  required: ["type"],
}) as unknown as z.ZodType<Part>;

const ContentSchema = z.union([z.string(), z.array(PartSchema)]) as unknown as z.ZodType<NewMessage["content"]>;

const Speaker = z.string().meta({ maxLength: NAME_UNITS_MAX });

const messageFields = {
  id: Name.exactOptional().meta({ description: "Your own id, unique in the space. Default: a new UUIDv7." }),
  role: choice(ROLES),
  name: Speaker.exactOptional().meta({ description: "The speaker's name, if the role is not enough." }),
  content: ContentSchema,
  occurredAt: InstantSchema.exactOptional().meta({ description: "When it was said. Default: now." }),
  metadata: MetadataSchema.exactOptional(),
  tier: choice(TIERS).exactOptional(),
  expiresAt: InstantSchema.exactOptional().meta({ description: "The item is not returned from this time on." }),
};

export const NewMessageSchema = z
  .strictObject(messageFields)
  .meta({ id: "NewMessage" }) satisfies z.ZodType<NewMessage>;

export const NewItemSchema = z
  .strictObject({
    ...messageFields,
    role: choice(ROLES).exactOptional(),
    kind: choice(["knowledge", "fact", "overflow"]),
  })
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
  embedding: z
    .object({
      state: z.enum(["waiting", "embedded", "stored", "parked", "off"]),
      error: z.string().exactOptional(),
      attempts: z.number().int().exactOptional(),
      retryAt: z.number().exactOptional(),
    })
    .meta({ id: "EmbeddingState", description: "Only in lists that ask for it. Of a parked item: the reason." })
    .exactOptional(),
};
export const ItemFields = itemFields;

export const ItemSchema = z.object(itemFields).meta({ id: "Item" });
export const ItemPageSchema = pageOf(ItemSchema).meta({ id: "ItemPage" });

const nullable = <T extends z.ZodType>(schema: T) => schema.nullable().exactOptional();

const patchFields = {
  content: ContentSchema.exactOptional(),
  role: choice(ROLES).exactOptional(),
  name: nullable(Speaker),
  metadata: MetadataSchema.exactOptional(),
  tier: choice(TIERS).exactOptional(),
  occurredAt: InstantSchema.exactOptional(),
  expiresAt: nullable(InstantSchema),
};

const ItemPatchSchema = z.strictObject(patchFields) satisfies z.ZodType<ItemPatch>;

export const ItemEditSchema = ItemPatchSchema.extend({
  expectVersion: whole(1).exactOptional().meta({ description: "409 if the item has another version." }),
}).meta({ id: "ItemEdit" });

export const AddedSchema = z
  .object({
    ids: z.array(z.string()),
    sequences: z.array(z.number().int()),
    repeated: z.boolean().meta({ description: "True if this was a retry and nothing was written." }),
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
    points: z.number().int(),
    missing: z.array(z.string()),
    purged: z.boolean().meta({ description: "True if the bytes were verified to be gone from the file." }),
    left: z.array(z.object({ what: z.string(), why: z.string() })),
  })
  .meta({ id: "ForgetReceipt" });
