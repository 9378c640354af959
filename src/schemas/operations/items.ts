/** What is said, and items by id. */

import { z } from "zod";
import {
  AddedSchema,
  IdsSchema,
  ItemEditSchema,
  ItemPageSchema,
  ItemSchema,
  NewItemSchema,
  NewMessageSchema,
  ReceiptSchema,
} from "../item.js";
import { operation } from "../operation.js";
import { ListOptionsSchema } from "../query.js";
import { TurnSchema } from "../report.js";
import { ROUTES } from "../routes.js";
import { Name } from "../scope.js";

const identified = z.strictObject({ id: Name });

export const ITEMS = {
  add: operation({
    route: ROUTES.add,
    tag: "Messages",
    summary: "Add messages to a session. When it answers they are durable and searchable.",
    access: "write",
    scope: "own",
    body: z.strictObject({ messages: z.array(NewMessageSchema) }),
    data: AddedSchema,
    status: 201,
    idempotent: true,
  }),
  addBatch: operation({
    route: ROUTES.addBatch,
    tag: "Messages",
    summary: "Add several rounds of messages, each all or nothing, in order.",
    access: "write",
    scope: "own",
    body: z.strictObject({ rounds: z.array(z.array(NewMessageSchema)) }),
    data: z.array(AddedSchema),
    status: 201,
    idempotent: true,
  }),
  addItems: operation({
    route: ROUTES.addItems,
    tag: "Items",
    summary: "Add knowledge and other items that nobody said.",
    access: "write",
    scope: "own",
    body: z.strictObject({ items: z.array(NewItemSchema) }),
    data: AddedSchema,
    status: 201,
    idempotent: true,
  }),
  commitTurn: operation({
    route: ROUTES.commitTurn,
    tag: "Messages",
    summary: "Commit the writes of one turn (messages, facts, edits of blocks) in one transaction.",
    access: "write",
    scope: "own",
    body: TurnSchema,
    data: AddedSchema,
    status: 201,
  }),
  get: operation({
    route: ROUTES.get,
    tag: "Items",
    summary: "Items by id, in the order asked for; absent ones are left out.",
    access: "read",
    scope: "own",
    body: IdsSchema,
    data: z.array(ItemSchema),
    status: 200,
  }),
  list: operation({
    route: ROUTES.list,
    tag: "Items",
    summary: "A page of the session's items, or of the whole space if the scope names no session.",
    access: "read",
    scope: "own",
    body: ListOptionsSchema,
    data: ItemPageSchema,
    status: 200,
  }),
  update: operation({
    route: ROUTES.update,
    tag: "Items",
    summary: "Edit an item. The old text is in no later answer.",
    access: "write",
    scope: "own",
    params: identified,
    body: ItemEditSchema,
    data: z.object({ version: z.number().int() }),
    status: 200,
  }),
  delete: operation({
    route: ROUTES.delete,
    tag: "Items",
    summary: "Forget items by id.",
    access: "write",
    scope: "own",
    body: IdsSchema,
    data: ReceiptSchema,
    status: 200,
  }),
  forget: operation({
    route: ROUTES.forget,
    tag: "Items",
    summary: "Forget the session that the scope names, or the whole space if it names none.",
    access: "write",
    scope: "own",
    data: ReceiptSchema,
    status: 200,
  }),
} as const;
