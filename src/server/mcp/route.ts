/**
 * /mcp: the memory for MCP clients over HTTP (Streamable HTTP, in both eras of the protocol), behind the same door and the
 * same keys as the rest. What answers is loaded by the first request.
 */
import type { Context, Hono } from "hono";
import { z } from "zod";
import { HoldfastError } from "../../errors.js";
import { ANSWER_TOKENS, ANSWER_TOKENS_MIN } from "../../mcp/limits.js";
import type { Memory } from "../../memory.js";
import { SCOPE_KEYS } from "../../schemas/scope.js";
import { type AttendParts, attend, bytesToCome, knockOf } from "../attend.js";
import { Caller } from "../caller.js";
import { parseWith, readJson } from "../request.js";
import { whenStopping } from "./listening.js";
import { scopeOfRequest } from "./scope.js";

export interface McpRouteParts extends AttendParts {
  readonly memory: Memory;
  readonly maxBodyBytes: number;
  /** The server stops: open streams end. */
  readonly stopping: AbortSignal;
}

export const MCP_PATH = "/mcp";
const ROUTE = `POST ${MCP_PATH}`;

const Settings = z.object({
  tools: z.string().exactOptional(),
  maxTokens: z.coerce.number().int().min(ANSWER_TOKENS_MIN).exactOptional(),
});
const KNOWN: ReadonlySet<string> = new Set([...SCOPE_KEYS, ...Object.keys(Settings.shape)]);

export function addMcpRoute(app: Hono, parts: McpRouteParts): void {
  const { memory, door, log, maxBodyBytes } = parts;
  const onStop = whenStopping(parts.stopping);
  // Not OPTIONS: a page that asks whether it may call is answered as everywhere.
  app.on(["GET", "POST", "DELETE"], MCP_PATH, (c) =>
    attend(parts, c, { route: ROUTE, bytes: bytesToCome(c, maxBodyBytes) }, async (caller = new Caller()) => {
      const { tools, maxTokens = ANSWER_TOKENS } = settingsOf(c);
      const scope = scopeOfRequest(c, caller);
      caller.require("read");
      const body = c.req.method === "POST" ? await bodyOf(c, maxBodyBytes) : undefined;
      if (body === NO_JSON) return refusal(-32_700, "Parse error: the body is not JSON");
      if (Array.isArray(body)) return refusal(-32_600, "Invalid Request: a request takes one message, not a list");
      const { answerMcp } = await import("./exchange.js");
      return answerMcp({
        memory,
        caller,
        scope,
        tools,
        maxTokens,
        request: c.req.raw,
        body,
        whenStopping: onStop,
        confirm: () => door.recognise(knockOf(c)),
        listen: () => door.listen(),
        failed: (error) => log.failed(ROUTE, error),
      });
    }),
  );
}

const NO_JSON = Symbol("no JSON");

/** What is no JSON is told as the protocol tells it. */
async function bodyOf(c: Context, maxBytes: number): Promise<unknown> {
  try {
    return await readJson(c, maxBytes);
  } catch (error) {
    if (error instanceof HoldfastError && error.code === "invalid_input") return NO_JSON;
    throw error;
  }
}

/** Of a list, too, which only an early version of the protocol had: one request would count for many. */
const refusal = (code: number, message: string): Response =>
  Response.json(
    { jsonrpc: "2.0", error: { code, message }, id: null },
    { status: 400, headers: { "cache-control": "no-store" } },
  );

function settingsOf(c: Context): z.output<typeof Settings> {
  const query = c.req.query();
  const unknown = Object.keys(query).find((name) => !KNOWN.has(name));
  if (unknown === undefined) return parseWith(Settings, query, "");
  throw new HoldfastError("invalid_input", `the address has an unknown key: ${unknown.slice(0, 64)}`, {
    hint: `it takes ${[...KNOWN].join(", ")}`,
  });
}
