/** API keys of a user, and the health check, in MemFuse's schema. */
import { z } from "zod";
import { operation } from "../../../schemas/operation.js";
import { Name } from "../../../schemas/scope.js";
import { byUser, next, pageFields, TAG, Time } from "./fields.js";

const permissions = z
  .strictObject({ read: z.literal(true).exactOptional(), write: z.boolean().exactOptional() })
  .meta({ description: "{ write: false } makes a read-only key." });

const Key = z
  .object({
    id: z.string(),
    user_id: z.string(),
    name: z.string().nullable(),
    permissions: z.object({ read: z.boolean(), write: z.boolean() }),
    created_at: Time,
    expires_at: Time.nullable(),
  })
  .meta({ id: "MemFuseApiKey" });
export type MemFuseApiKey = z.output<typeof Key>;

export const MEMFUSE_KEYS = {
  memfuseListApiKeys: operation({
    route: "GET /users/{user_id}/api-keys",
    retry: "read",
    tag: TAG,
    summary: "List the keys that name this user and are not revoked, without their secrets.",
    access: "admin",
    scope: "none",
    params: byUser,
    query: z.strictObject(pageFields),
    data: z.object({ api_keys: z.array(Key), next }),
    status: 200,
  }),
  memfuseCreateApiKey: operation({
    route: "POST /users/{user_id}/api-keys",
    retry: "key",
    tag: TAG,
    summary: "Create a key for this user only. Its secret, `key`, is shown only once.",
    access: "admin",
    scope: "none",
    params: byUser,
    body: z
      .object({
        user_id: Name.nullish().meta({ description: "Must equal the id in the path." }),
        name: Name.nullish(),
        key: z.null().exactOptional().meta({ description: "The server creates secrets; a given one is refused." }),
        permissions: permissions.nullish(),
        expires_at: z.string().nullish(),
      })
      .meta({ id: "MemFuseNewApiKey" }),
    data: z.object({ api_key: Key.extend({ key: z.string() }) }),
    status: 201,
  }),
  memfuseDeleteApiKey: operation({
    route: "DELETE /users/{user_id}/api-keys/{key_id}",
    retry: "noop",
    tag: TAG,
    summary: "Revoke a key that names this user.",
    access: "admin",
    scope: "none",
    params: z.strictObject({ user_id: Name, key_id: Name }),
    data: z.object({ key_id: z.string() }),
    status: 200,
  }),
} as const;

export const MEMFUSE_HEALTH = {
  memfuseHealth: operation({
    route: "GET /health",
    retry: "read",
    tag: TAG,
    summary: "Health check. MemFuse's SDK calls it before each call.",
    access: "none",
    scope: "none",
    data: z.object({ status: z.literal("ok"), version: z.string() }),
    status: 200,
  }),
} as const;
