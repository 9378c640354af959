/** Memory blocks. */
import { z } from "zod";
import type { BlockEditInput, BlockSettings, EditOptions, NewBlock } from "../blocks/block-input.js";
import { BLOCK_POLICIES } from "../stores/blocks.js";
import { choice, Name, SpaceRefSchema, whole } from "./scope.js";

const note = {
  reason: z.string().exactOptional().meta({ description: "The reason, kept in the history." }),
  actor: z.string().exactOptional().meta({ description: "Who made the edit. Default: the scope's agent or user." }),
};
const settings = {
  description: z.string().exactOptional(),
  maxTokens: whole(1).exactOptional(),
  counter: z.string().exactOptional(),
  policy: choice(BLOCK_POLICIES).exactOptional(),
  readOnly: z.boolean().exactOptional(),
};
const editOptions = {
  ...note,
  expectVersion: whole(1).exactOptional().meta({ description: "409 if the block has another version." }),
  merge: z
    .boolean()
    .exactOptional()
    .meta({ description: "Merge concurrent edits that do not overlap, instead of 409." }),
};

export const NewBlockSchema = z
  .strictObject({ name: Name, content: z.string().exactOptional(), ...settings, ...note })
  .meta({ id: "NewBlock" }) satisfies z.ZodType<NewBlock>;

export const BlockSettingsSchema = z
  .strictObject({ ...settings, description: z.string().nullable().exactOptional(), ...note })
  .meta({ id: "BlockSettings" }) satisfies z.ZodType<BlockSettings>;

export const EditOptionsSchema = z
  .strictObject(editOptions)
  .meta({ id: "EditOptions" }) satisfies z.ZodType<EditOptions>;

/** The fields of all kinds of edit, for callers that let the engine check which go together. */
export const anyBlockEdit = {
  content: z.string().exactOptional(),
  append: z.string().exactOptional(),
  replace: z.string().exactOptional(),
  with: z.string().exactOptional(),
  all: z.boolean().exactOptional(),
  insert: z.string().exactOptional(),
  line: whole(0).exactOptional(),
  patch: z.string().exactOptional(),
  ...editOptions,
};

/** One of five ways to edit the text. */
export const BlockEditSchema = z
  .union([
    z.strictObject({ content: z.string(), ...editOptions }),
    z.strictObject({ append: z.string(), ...editOptions }),
    z.strictObject({ replace: z.string(), with: z.string(), all: z.boolean().exactOptional(), ...editOptions }),
    z.strictObject({ insert: z.string(), line: whole(0), ...editOptions }),
    z.strictObject({ patch: z.string(), ...editOptions }),
  ])
  .meta({
    id: "BlockEdit",
    description: "{content}, {append}, {replace, with, all}, {insert, line} or {patch}, with a reason.",
  }) satisfies z.ZodType<BlockEditInput>;

export const BlockSchema = z
  .object({
    id: z.string(),
    space: SpaceRefSchema,
    name: z.string(),
    content: z.string(),
    description: z.string().exactOptional(),
    maxTokens: z.number(),
    counter: z.string(),
    policy: z.enum(BLOCK_POLICIES),
    readOnly: z.boolean(),
    version: z.number(),
    createdAt: z.number(),
    updatedAt: z.number(),
  })
  .meta({ id: "Block" });

export const EditedBlockSchema = BlockSchema.extend({
  archived: z.object({ id: z.string(), text: z.string() }).exactOptional(),
}).meta({ id: "EditedBlock" });

export const BlockHistorySchema = z.array(
  z
    .object({
      version: z.number(),
      old: z.string(),
      new: z.string(),
      name: z.string(),
      formerName: z.string().exactOptional(),
      reason: z.string(),
      actor: z.string().exactOptional(),
      at: z.number(),
    })
    .meta({ id: "BlockHistoryEntry" }),
);
