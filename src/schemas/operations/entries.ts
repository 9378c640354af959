/** Operations on the registry. A key sees the entries that it covers. */

import { z } from "zod";
import { ORDERS } from "../../options.js";
import { ReceiptSchema } from "../item.js";
import { operation } from "../operation.js";
import {
  EntryChangeSchema,
  EntryPageSchema,
  EntrySchema,
  NewEntrySchema,
  RegistryKindSchema,
  SessionEntrySchema,
  SessionPageSchema,
} from "../registry.js";
import { ROUTES } from "../routes.js";
import { choice, Name, PageFields, SpaceRefSchema } from "../scope.js";

export const ENTRIES = {
  listEntries: operation({
    ...ROUTES.listEntries,
    tag: "Registry",
    summary: "List users, agents or teams in order of creation, or get one by name or id.",
    access: "read",
    scope: "none",
    params: z.strictObject({ kind: RegistryKindSchema }),
    query: z.strictObject({ name: Name.exactOptional(), id: Name.exactOptional(), ...PageFields }),
    data: EntryPageSchema,
    status: 200,
  }),
  createEntry: operation({
    ...ROUTES.createEntry,
    tag: "Registry",
    summary: "Register a user, an agent or a team.",
    access: "write",
    scope: "none",
    params: z.strictObject({ kind: RegistryKindSchema }),
    body: NewEntrySchema,
    data: EntrySchema,
    status: 201,
  }),
  amendEntry: operation({
    ...ROUTES.amendEntry,
    tag: "Registry",
    summary: "Rename it, describe it, or set its retention.",
    access: "write",
    scope: "none",
    params: z.strictObject({ kind: RegistryKindSchema, name: Name }),
    body: EntryChangeSchema,
    data: EntrySchema,
    status: 200,
  }),
  deleteEntry: operation({
    ...ROUTES.deleteEntry,
    tag: "Registry",
    summary: "Forget it and everything in its space.",
    access: "write",
    scope: "none",
    params: z.strictObject({ kind: RegistryKindSchema, name: Name }),
    data: ReceiptSchema,
    status: 200,
  }),
  listSessions: operation({
    ...ROUTES.listSessions,
    tag: "Registry",
    summary: "List the sessions of a space (without a scope: of all spaces, for admins), or get one by name or id.",
    access: "read",
    scope: "open",
    query: z.strictObject({
      name: Name.exactOptional(),
      id: Name.exactOptional(),
      order: choice(ORDERS).exactOptional().meta({ description: "By creation. Default: asc." }),
      ...PageFields,
    }),
    data: SessionPageSchema,
    status: 200,
  }),
  createSession: operation({
    ...ROUTES.createSession,
    tag: "Registry",
    summary: "Register a session before its first message.",
    access: "write",
    scope: "none",
    body: z.strictObject({ space: SpaceRefSchema, name: Name, agent: Name.exactOptional() }),
    data: SessionEntrySchema,
    status: 201,
  }),
  renameSession: operation({
    ...ROUTES.renameSession,
    tag: "Registry",
    summary: "Rename a session.",
    access: "write",
    scope: "none",
    body: z.strictObject({ space: SpaceRefSchema, name: Name, to: Name }),
    data: SessionEntrySchema,
    status: 200,
  }),
} as const;
