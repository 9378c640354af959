/** holdfast serve: the HTTP server. */
import { resolve } from "node:path";
import type { OpenOptions } from "../../memory.js";
import type { Call } from "../call.js";
import { type Definition, flag } from "../definition.js";
import { gathered, wholeNumber } from "../flag-values.js";
import type { Environment } from "../io.js";
import { counted } from "../output/counted.js";
import { styled } from "../output/style.js";
import { type FilePlace, IN_MEMORY, prepareFolderOf } from "../place.js";
import { DEFAULT_USER } from "../scope-flags.js";

interface ServeFlags {
  readonly port?: number;
  readonly host?: string;
  readonly requireKey?: boolean;
  readonly allowHost?: readonly string[];
  readonly allowOrigin?: readonly string[];
}

export const serveCommand: Definition = {
  name: "serve",
  purpose: "Start the HTTP server on the memory's file.",
  about:
    "Ctrl-C stops it after the requests in progress are answered. If other machines can reach it (--host), every request needs a key: see holdfast key create.",
  options: [
    flag("-p, --port <n>", "the port; 0: any free port (default: 8000)", wholeNumber),
    flag("--host <address>", "the address to listen on (default: 127.0.0.1, this machine only)"),
    flag("--require-key", "require a key from this machine, too"),
    flag("--allow-host <name>", "a host name that requests may use; repeatable", gathered),
    flag(
      "--allow-origin <origin>",
      "a web origin that may call it, such as https://app.example.com (CORS); repeatable",
      gathered,
    ),
  ],
  endsByInterrupt: true,
  examples: [
    "holdfast serve",
    "holdfast serve --port 9000 --path agent.db",
    "holdfast serve --host 0.0.0.0 --allow-host memory.example.com",
  ],
  async run(call) {
    const { printer, io } = call;
    const flags = call.flags<ServeFlags>();
    const { port, host, requireKey, allowHost, allowOrigin } = flags;
    // HOLDFAST_URL is for clients.
    const place = flags.url === undefined ? await call.ownFile() : await call.file();
    const { path, config } = place;
    await noteIgnored(call);
    await prepareFolderOf(place);
    const options = {
      ...((flags.path !== undefined || !(await isConfigured(place))) && { path }),
      ...(config !== undefined && { config }),
      server: {
        ...(port !== undefined && { port }),
        ...(host !== undefined && { host }),
        ...(requireKey && { requireKey }),
        ...(allowHost && { allowedHosts: allowHost.join(",") }),
        ...(allowOrigin && { allowedOrigins: allowOrigin.join(",") }),
      },
    };
    const { serve } = await import("../../server/serve.js");
    const server = await serve(options);
    const file = path === IN_MEMORY ? path : resolve(path);
    if (printer.json) await printer.record({ url: server.url, port: server.port, path: file });
    else {
      await printer.line("Holdfast is listening on ", styled("bold", server.url), "  (the dashboard, in a browser)");
      await printer.line(`memory: ${file}`);
      await printer.line(`try:  ${curlLine(server.url, await needsKey(options, io.env))}`);
      await printer.line(`or:   holdfast --url ${server.url} query "where do I live?"`);
    }
    await ended(io.signal);
    printer.note("stopping: finishing requests in progress; the same signal again stops at once");
    const { items } = await server.stop();
    printer.note(`stopped; ${counted(items, "item")} in ${file}`);
  },
};

/** Names the variables that are ignored. One that resembles an option is an error. */
async function noteIgnored({ printer, io }: Call): Promise<void> {
  const { ignoredVariables } = await import("../../config.js");
  const ignored = ignoredVariables(io.env);
  if (ignored.length === 0) return;
  printer.note(styled("yellow", `ignored, because there is no such option: ${ignored.join(", ")}`));
}

/** Whether the server finds the path by itself. It is not passed in code then, so that its origin is the true one. */
async function isConfigured({ path, config }: FilePlace): Promise<boolean> {
  const { readConfig } = await import("../../config.js");
  const { settings } = readConfig({ file: config, env: process.env, fallback: { path } });
  return settings.some(({ name, origin }) => name === "store.path" && origin.from !== "program");
}

async function needsKey({ config, ...code }: OpenOptions, env: Environment): Promise<boolean> {
  const { loadConfig } = await import("../../config.js");
  const { asksForKeys } = await import("../../server/guard.js");
  return asksForKeys(loadConfig({ file: config, env, code }).server);
}

/** Adds a message. */
function curlLine(url: string, withKey: boolean): string {
  const key = withKey ? ` -H "authorization: Bearer $HOLDFAST_KEY"` : "";
  const body = `{"messages":[{"role":"user","content":"I moved to Lisbon in May."}]}`;
  return `curl '${url}/api/v1/messages?user=${DEFAULT_USER}'${key} -H 'content-type: application/json' -d '${body}'`;
}

const ended = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
