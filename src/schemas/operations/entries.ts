/** The registry: a key sees the entries that it covers. */

import { z } from "zod";
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
import { Name, PageFields, SpaceRefSchema } from "../scope.js";

export const ENTRIES = {
  listEntries: operation({
    route: ROUTES.listEntries,
    tag: "Registry",
    summary: "Users, agents or teams, in the order of their making; or the one of a name or id.",
    access: "read",
    scope: "none",
    params: z.strictObject({ kind: RegistryKindSchema }),
    query: z.strictObject({ name: Name.exactOptional(), id: Name.exactOptional(), ...PageFields }),
    data: EntryPageSchema,
    status: 200,
  }),
  createEntry: operation({
    route: ROUTES.createEntry,
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
    route: ROUTES.amendEntry,
    tag: "Registry",
    summary: "Rename or describe it, or say how long its items are kept.",
    access: "write",
    scope: "none",
    params: z.strictObject({ kind: RegistryKindSchema, name: Name }),
    body: EntryChangeSchema,
    data: EntrySchema,
    status: 200,
  }),
  deleteEntry: operation({
    route: ROUTES.deleteEntry,
    tag: "Registry",
    summary: "Forget it with everything in its space.",
    access: "write",
    scope: "none",
    params: z.strictObject({ kind: RegistryKindSchema, name: Name }),
    data: ReceiptSchema,
    status: 200,
  }),
  listSessions: operation({
    route: ROUTES.listSessions,
    tag: "Registry",
    summary: "Sessions of a space (without a scope: of all, for admins); or the one of a name or id.",
    access: "read",
    scope: "open",
    query: z.strictObject({ name: Name.exactOptional(), id: Name.exactOptional(), ...PageFields }),
    data: SessionPageSchema,
    status: 200,
  }),
  createSession: operation({
    route: ROUTES.createSession,
    tag: "Registry",
    summary: "Register a session before its first message.",
    access: "write",
    scope: "none",
    body: z.strictObject({ space: SpaceRefSchema, name: Name, agent: Name.exactOptional() }),
    data: SessionEntrySchema,
    status: 201,
  }),
  renameSession: operation({
    route: ROUTES.renameSession,
    tag: "Registry",
    summary: "Rename a session.",
    access: "write",
    scope: "none",
    body: z.strictObject({ space: SpaceRefSchema, name: Name, to: Name }),
    data: SessionEntrySchema,
    status: 200,
  }),
} as const;
