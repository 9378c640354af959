/** Operations on API keys. */

import { z } from "zod";
import { operation } from "../operation.js";
import { ApiKeyPageSchema, ApiKeySchema, CallerSchema, MadeApiKeySchema, NewApiKeySchema } from "../registry.js";
import { ROUTES } from "../routes.js";
import { Name, PageFields } from "../scope.js";

const identified = z.strictObject({ id: Name });
const page = z.strictObject(PageFields);

export const KEYS = {
  caller: operation({
    ...ROUTES.caller,
    tag: "Keys",
    summary: "Get what the caller may do: its access, and the spaces that its key covers.",
    access: "read",
    scope: "none",
    data: CallerSchema,
    status: 200,
  }),
  listKeys: operation({
    ...ROUTES.listKeys,
    tag: "Keys",
    summary: "List API keys, without their secrets.",
    access: "admin",
    scope: "none",
    query: page,
    data: ApiKeyPageSchema,
    status: 200,
  }),
  createKey: operation({
    ...ROUTES.createKey,
    tag: "Keys",
    summary: "Create an API key. Its secret is shown only once.",
    access: "admin",
    scope: "none",
    body: NewApiKeySchema,
    data: MadeApiKeySchema,
    status: 201,
  }),
  revokeKey: operation({
    ...ROUTES.revokeKey,
    tag: "Keys",
    summary: "Revoke an API key.",
    access: "admin",
    scope: "none",
    params: identified,
    data: ApiKeySchema,
    status: 200,
  }),
} as const;
