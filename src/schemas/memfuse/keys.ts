/** API keys of a user, and whether the server lives, as MemFuse has them. */
import { z } from "zod";
import { operation } from "../operation.js";
import { Name } from "../scope.js";
import { byUser, next, pageFields, TAG, Time } from "./fields.js";

const permissions = z
  .strictObject({ read: z.literal(true).exactOptional(), write: z.boolean().exactOptional() })
  .meta({ description: "{ write: false } is a key that only reads." });

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
    tag: TAG,
    summary: "The keys that name this user and are not revoked, without their secrets.",
    access: "admin",
    scope: "none",
    params: byUser,
    query: z.strictObject(pageFields),
    data: z.object({ api_keys: z.array(Key), next }),
    status: 200,
  }),
  memfuseCreateApiKey: operation({
    route: "POST /users/{user_id}/api-keys",
    tag: TAG,
    summary: "Make a key for this user alone. Its secret, `key`, is shown this once.",
    access: "admin",
    scope: "none",
    params: byUser,
    body: z
      .object({
        user_id: Name.nullish().meta({ description: "The same as in the path." }),
        name: Name.nullish(),
        key: z.null().exactOptional().meta({ description: "Secrets are made here; one that is given is refused." }),
        permissions: permissions.nullish(),
        expires_at: z.string().nullish(),
      })
      .meta({ id: "MemFuseNewApiKey" }),
    data: z.object({ api_key: Key.extend({ key: z.string() }) }),
    status: 201,
  }),
  memfuseDeleteApiKey: operation({
    route: "DELETE /users/{user_id}/api-keys/{key_id}",
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
    tag: TAG,
    summary: "The server answers. Its SDK asks this before each call.",
    access: "none",
    scope: "none",
    data: z.object({ status: z.literal("ok"), version: z.string() }),
    status: 200,
  }),
} as const;
