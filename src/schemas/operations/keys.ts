/** Operations on API keys. */

import { z } from "zod";
import { operation } from "../operation.js";
import { ApiKeyPageSchema, ApiKeySchema, MadeApiKeySchema, NewApiKeySchema } from "../registry.js";
import { ROUTES } from "../routes.js";
import { Name, PageFields } from "../scope.js";

const identified = z.strictObject({ id: Name });
const page = z.strictObject(PageFields);

export const KEYS = {
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
