/** Handlers for the configuration, the imports in progress, and the upkeep of the file. */
import type { Context } from "hono";
import type { Call } from "../../calls/call.js";
import type { ConfigSetting } from "../../config.js";
import { UPKEEP } from "../../schemas/operations/upkeep.js";
import type { ServerOptions } from "../app.js";
import { jobLines } from "../job-lines.js";
import { ndjson, streamed } from "../ndjson.js";
import { whileAuthorized } from "../validity.js";
import { breaking, type StreamParts, streamCallerOf } from "./streams.js";

export interface UpkeepParts extends StreamParts {
  readonly options: ServerOptions;
}

type UpkeepHandlers = {
  readonly [K in keyof typeof UPKEEP]: (call: Call<(typeof UPKEEP)[K]>, c: Context) => Promise<unknown>;
};

export const upkeepHandlers = ({ admission, log, imports, stopping, options }: UpkeepParts): UpkeepHandlers => ({
  config: async ({ memory }) => ({ settings: memory.config().map((setting) => inServer(setting, options)) }),
  imports: async ({ caller }) => ({ imports: imports.of(caller) }),
  doctor: async ({ memory, caller, query: { deep = false } }, c) => {
    const signal = AbortSignal.any([stopping, c.req.raw.signal]);
    const lines = jobLines((watch) => memory.upkeep.inspect({ ...watch, deep }), signal);
    const own = whileAuthorized(lines, streamCallerOf(admission, memory, caller, c));
    return ndjson(own, breaking({ route: UPKEEP.doctor.route, log, signal }, c));
  },
  backup: async ({ memory, caller }, c) => {
    const signal = AbortSignal.any([stopping, c.req.raw.signal]);
    const { bytes, chunks } = await memory.upkeep.backup({ signal });
    const own = whileAuthorized(chunks, streamCallerOf(admission, memory, caller, c));
    return streamed(own, breaking({ route: UPKEEP.backup.route, log, signal }, c), {
      "content-type": UPKEEP.backup.media.response,
      "content-length": String(bytes),
      "content-disposition": `attachment; filename="${backupName(memory.service.clock.now())}"`,
    });
  },
});

const backupName = (now: number): string =>
  `holdfast-${new Date(now).toISOString().slice(0, 19).replaceAll(":", "-")}.db`;

/** A server that is mounted by `createApp` has options of its own. */
function inServer(setting: ConfigSetting, options: ServerOptions): ConfigSetting {
  const [group, name = ""] = setting.name.split(".");
  if (group !== "server") return setting;
  const key = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) as keyof ServerOptions;
  const value = options[key];
  if (value === setting.value) return setting;
  const { value: _, ...rest } = setting;
  return { ...rest, isSet: value !== undefined, ...(value !== undefined && { value }), origin: { from: "code" } };
}
