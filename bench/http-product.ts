/** Non-public parts of the server, for adding a route of our own. */

import type { Memory, OpenOptions } from "holdfast";
import type { createApp, ServerOptions } from "holdfast/server";
import type { Operation } from "../build/lib/schemas/operation.js";
import type { DispatchParts, dispatch } from "../build/lib/server/dispatch.js";

export interface ServerParts {
  readonly createApp: typeof createApp;
  readonly dispatch: typeof dispatch;
  readonly operations: { readonly add: Operation; readonly query: Operation };
  options(code: OpenOptions): ServerOptions;
  /** The dependencies of `dispatch`, as the application creates them. */
  quietParts(memory: Memory, options: ServerOptions): DispatchParts;
}

export async function loadServerParts(): Promise<ServerParts> {
  const part = async <T>(path: string): Promise<T> =>
    (await import(new URL(`../lib/${path}.js`, import.meta.url).href)) as T;
  const { createApp } = await part<typeof import("../build/lib/server/app.js")>("server/app");
  const { dispatch } = await part<typeof import("../build/lib/server/dispatch.js")>("server/dispatch");
  const { OPERATIONS } = await part<typeof import("../build/lib/schemas/operations.js")>("schemas/operations");
  const { loadConfig } = await part<typeof import("../build/lib/config.js")>("config");
  const { AdmissionControl } =
    await part<typeof import("../build/lib/server/admission-control.js")>("server/admission-control");
  const { Guard } = await part<typeof import("../build/lib/server/guard.js")>("server/guard");
  const { KeyRing } = await part<typeof import("../build/lib/server/key-ring.js")>("server/key-ring");
  const { ServerLog } = await part<typeof import("../build/lib/server/log.js")>("server/log");
  const { Traffic } = await part<typeof import("../build/lib/server/traffic.js")>("server/traffic");
  const { Registry } = await import("prom-client");
  return {
    createApp,
    dispatch,
    operations: OPERATIONS,
    options: (code) => loadConfig({ code }).server,
    quietParts: (memory, options) => {
      const guard = new Guard({ host: options.host, allowedHosts: [], allowedOrigins: [] });
      const keys = new KeyRing(memory.keys, false);
      const admission = new AdmissionControl({ ...options, guard, keys, ratePerSecond: 0 });
      const traffic = new Traffic(admission, new Registry());
      return { memory, admission, traffic, log: new ServerLog("error"), maxBodyBytes: options.maxBodyBytes };
    },
  };
}
