/** Operations on messages and items. */

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
    ...ROUTES.add,
    tag: "Messages",
    summary: "Add messages to a session. They are durable and searchable when the response arrives.",
    access: "write",
    scope: "own",
    body: z.strictObject({ messages: z.array(NewMessageSchema) }),
    data: AddedSchema,
    status: 201,
  }),
  addBatch: operation({
    ...ROUTES.addBatch,
    tag: "Messages",
    summary: "Add several rounds of messages, each all or nothing, in order.",
    access: "write",
    scope: "own",
    body: z.strictObject({ rounds: z.array(z.array(NewMessageSchema)) }),
    data: z.array(AddedSchema),
    status: 201,
  }),
  addItems: operation({
    ...ROUTES.addItems,
    tag: "Items",
    summary: "Add knowledge and other items that are not messages.",
    access: "write",
    scope: "own",
    body: z.strictObject({ items: z.array(NewItemSchema) }),
    data: AddedSchema,
    status: 201,
  }),
  commitTurn: operation({
    ...ROUTES.commitTurn,
    tag: "Messages",
    summary: "Commit the writes of one turn (messages, facts, points, block edits) in one transaction.",
    access: "write",
    scope: "own",
    body: TurnSchema,
    data: AddedSchema,
    status: 201,
  }),
  get: operation({
    ...ROUTES.get,
    tag: "Items",
    summary: "Get items by id, in the given order; missing ones are omitted.",
    access: "read",
    scope: "own",
    body: IdsSchema,
    data: z.array(ItemSchema),
    status: 200,
  }),
  list: operation({
    ...ROUTES.list,
    tag: "Items",
    summary: "List the items of the session, or of the whole space if the scope names no session.",
    access: "read",
    scope: "own",
    body: ListOptionsSchema,
    data: ItemPageSchema,
    status: 200,
  }),
  update: operation({
    ...ROUTES.update,
    tag: "Items",
    summary: "Edit an item. No later response contains the old text.",
    access: "write",
    scope: "own",
    params: identified,
    body: ItemEditSchema,
    data: z.object({ version: z.number().int() }),
    status: 200,
  }),
  delete: operation({
    ...ROUTES.delete,
    tag: "Items",
    summary: "Forget items by id.",
    access: "write",
    scope: "own",
    body: IdsSchema,
    data: ReceiptSchema,
    status: 200,
  }),
  forget: operation({
    ...ROUTES.forget,
    tag: "Items",
    summary: "Forget the scope's session, or the whole space if it names none.",
    access: "write",
    scope: "own",
    data: ReceiptSchema,
    status: 200,
  }),
} as const;
