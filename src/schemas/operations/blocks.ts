/** Operations on blocks. */

import { z } from "zod";
import {
  BlockEditSchema,
  BlockHistorySchema,
  BlockSchema,
  BlockSettingsSchema,
  EditedBlockSchema,
  EditOptionsSchema,
  NewBlockSchema,
} from "../block.js";
import { ReceiptSchema } from "../item.js";
import { operation } from "../operation.js";
import { ROUTES } from "../routes.js";
import { Name, whole } from "../scope.js";

const named = z.strictObject({ name: Name });
const version = z.coerce.number().int().min(1);

export const BLOCKS = {
  createBlock: operation({
    ...ROUTES.createBlock,
    tag: "Blocks",
    summary: "Create a memory block.",
    access: "write",
    scope: "own",
    body: NewBlockSchema,
    data: EditedBlockSchema,
    status: 201,
  }),
  listBlocks: operation({
    ...ROUTES.listBlocks,
    tag: "Blocks",
    summary: "List the blocks of the space, by name.",
    access: "read",
    scope: "own",
    data: z.array(BlockSchema),
    status: 200,
  }),
  getBlock: operation({
    ...ROUTES.getBlock,
    tag: "Blocks",
    summary: "Get a block.",
    access: "read",
    scope: "own",
    params: named,
    data: BlockSchema,
    status: 200,
  }),
  editBlock: operation({
    ...ROUTES.editBlock,
    tag: "Blocks",
    summary: "Edit a block. Each edit is a new version.",
    access: "write",
    scope: "own",
    params: named,
    body: BlockEditSchema,
    data: EditedBlockSchema,
    status: 200,
  }),
  configureBlock: operation({
    ...ROUTES.configureBlock,
    tag: "Blocks",
    summary: "Description, budget, counter, policy, read-only.",
    access: "write",
    scope: "own",
    params: named,
    body: BlockSettingsSchema,
    data: BlockSchema,
    status: 200,
  }),
  renameBlock: operation({
    ...ROUTES.renameBlock,
    tag: "Blocks",
    summary: "Rename a block.",
    access: "write",
    scope: "own",
    params: named,
    body: z.strictObject({ to: Name, ...EditOptionsSchema.shape }),
    data: BlockSchema,
    status: 200,
  }),
  deleteBlock: operation({
    ...ROUTES.deleteBlock,
    tag: "Blocks",
    summary: "Forget a block, its history, and its archived overflow.",
    access: "write",
    scope: "own",
    params: named,
    data: ReceiptSchema,
    status: 200,
  }),
  blockHistory: operation({
    ...ROUTES.blockHistory,
    tag: "Blocks",
    summary: "List the edits of a block, newest first.",
    access: "read",
    scope: "own",
    params: named,
    query: z.strictObject({
      limit: z.coerce.number().int().min(0).exactOptional(),
      creation: z
        .enum(["true", "false"])
        .transform((text) => text === "true")
        .exactOptional()
        .meta({ description: "Whether to list the creation of the block (version 1) as well. Default: false" }),
    }),
    data: BlockHistorySchema,
    status: 200,
  }),
  blockVersion: operation({
    ...ROUTES.blockVersion,
    tag: "Blocks",
    summary: "Get the text of one version.",
    access: "read",
    scope: "own",
    params: z.strictObject({ name: Name, version }),
    data: z.object({ content: z.string() }),
    status: 200,
  }),
  blockDiff: operation({
    ...ROUTES.blockDiff,
    tag: "Blocks",
    summary: "Get a unified diff between two versions.",
    access: "read",
    scope: "own",
    params: named,
    query: z.strictObject({ from: version, to: version }),
    data: z.object({ diff: z.string() }),
    status: 200,
  }),
  restoreBlock: operation({
    ...ROUTES.restoreBlock,
    tag: "Blocks",
    summary: "Restore the text of an earlier version, as a new version.",
    access: "write",
    scope: "own",
    params: named,
    body: z.strictObject({ version: whole(1), ...EditOptionsSchema.shape }),
    data: BlockSchema,
    status: 200,
  }),
  archiveBlock: operation({
    ...ROUTES.archiveBlock,
    tag: "Blocks",
    summary: "Cut the block to its budget and keep the rest as a searchable item. Null if it fits.",
    access: "write",
    scope: "own",
    params: named,
    body: EditOptionsSchema,
    data: EditedBlockSchema.nullable(),
    status: 200,
  }),
} as const;
