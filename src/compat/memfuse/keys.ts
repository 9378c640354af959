/** API keys of a user, and the health check. */

import { type Handlers, keyed } from "../../calls/call.js";
import { HoldfastError } from "../../errors.js";
import type { ApiKey } from "../../stores/keys.js";
import { VERSION } from "../../version.js";
import { absent, userById } from "./lookup.js";
import type { MEMFUSE_HEALTH, MEMFUSE_KEYS, MemFuseApiKey } from "./schemas/keys.js";
import { timeOf } from "./view.js";

export const memfuseKeyHandlers: Handlers<typeof MEMFUSE_KEYS> = {
  memfuseListApiKeys: async (call) => {
    const { id, name } = await userById(call, call.params.user_id);
    const { items, ...page } = await call.memory.keys.list({ space: { user: name }, ...call.query });
    const alive = items.filter(({ revokedAt }) => revokedAt === undefined);
    return { api_keys: alive.map((key) => keyView(key, id)), ...page };
  },
  memfuseCreateApiKey: async (call) => {
    const { user_id, name, permissions, expires_at } = call.body;
    const user = await userById(call, call.params.user_id);
    if (typeof user_id === "string" && user_id !== user.id) {
      throw new HoldfastError("invalid_input", "user_id differs from the path", {
        hint: "omit it from the body",
        details: { field: "user_id" },
      });
    }
    const wanted = {
      access: permissions?.write === false ? ("read" as const) : ("write" as const),
      spaces: [{ user: user.name }],
      ...(typeof name === "string" && { name }),
      ...(typeof expires_at === "string" && { expiresAt: expires_at }),
    };
    const { key, secret } = await call.memory.keys.create(wanted, keyed(call.idempotencyKey));
    return { api_key: { ...keyView(key, user.id), key: secret } };
  },
  memfuseDeleteApiKey: async (call) => {
    const user = await userById(call, call.params.user_id);
    const key = await call.memory.keys.get(call.params.key_id);
    if (key?.revokedAt !== undefined || !key?.spaces.some((space) => isUser(space, user.name))) {
      throw absent("key_id", "the user has no such key", "GET /api/v1/users/{user_id}/api-keys lists them");
    }
    await call.memory.keys.revoke(key.id);
    return { key_id: key.id };
  },
};

export const memfuseHealthHandlers: Handlers<typeof MEMFUSE_HEALTH> = {
  memfuseHealth: async () => ({ status: "ok", version: VERSION }),
};

const isUser = (space: ApiKey["spaces"][number], name: string): boolean =>
  typeof space === "object" && "user" in space && space.user === name;

const keyView = ({ id, name, access, createdAt, expiresAt }: ApiKey, userId: string): MemFuseApiKey => ({
  id,
  user_id: userId,
  name: name ?? null,
  permissions: { read: true, write: access !== "read" },
  created_at: timeOf(createdAt),
  expires_at: expiresAt === undefined ? null : timeOf(expiresAt),
});
