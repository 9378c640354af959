/**
 * /mcp: memory for MCP clients over Streamable HTTP, in both eras of the protocol, with the same admission and keys as the
 * API. The first request loads the implementation.
 */

import type { Context, Hono } from "hono";
import { z } from "zod";
import { Caller } from "../../calls/caller.js";
import { HoldfastError } from "../../errors.js";
import { didYouMean } from "../../input/nearest.js";
import { ANSWER_TOKENS, ANSWER_TOKENS_MIN } from "../../mcp/limits.js";
import type { Memory } from "../../memory.js";
import { SCOPE_KEYS } from "../../schemas/scope.js";
import { parseWith } from "../../schemas/validation.js";
import { type AttendParts, attend, senderOf } from "../attend.js";
import type { BodyLimits } from "../body.js";
import { limitsOf } from "../dispatch.js";
import { PARTS, readJson } from "../request.js";
import { whenStopping } from "./listening.js";
import { scopeOfRequest } from "./scope.js";

export interface McpRouteParts extends AttendParts {
  readonly memory: Memory;
  readonly maxBodyBytes: number;
  /** Aborted when the server stops; open streams end. */
  readonly stopping: AbortSignal;
}

const MCP_PATH = "/mcp";
const ROUTE = `POST ${MCP_PATH}`;

const Settings = z.object({
  tools: z.string().exactOptional(),
  maxTokens: z.coerce.number().int().min(ANSWER_TOKENS_MIN).exactOptional(),
});
const KNOWN: ReadonlySet<string> = new Set([...SCOPE_KEYS, ...Object.keys(Settings.shape)]);

export function addMcpRoute(app: Hono, parts: McpRouteParts): void {
  const { memory, admission, log } = parts;
  const onStop = whenStopping(parts.stopping);
  // OPTIONS is left to the app's common preflight handler.
  app.on(["GET", "POST", "DELETE"], MCP_PATH, (c) =>
    attend(parts, c, { route: ROUTE }, async (caller = new Caller(), slot) => {
      const { tools, maxTokens = ANSWER_TOKENS } = settingsOf(c);
      const scope = scopeOfRequest(c, caller);
      caller.require("read");
      const body = c.req.method === "POST" ? await bodyOf(c, limitsOf(parts, slot)) : undefined;
      if (body instanceof NotJson) return refusal(-32_700, `Parse error: ${body.message}`);
      if (Array.isArray(body)) return refusal(-32_600, "Invalid Request: send one message per request, not a batch");
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
        confirm: () => admission.authenticate(senderOf(c)),
        listen: () => slot.listen(),
        failed: (error) => log.failed(ROUTE, error),
      });
    }),
  );
}

class NotJson {
  readonly message: string;

  constructor({ message }: HoldfastError) {
    this.message = message;
  }
}

/** Invalid JSON becomes a JSON-RPC parse error instead of our envelope. */
async function bodyOf(c: Context, limits: BodyLimits): Promise<unknown> {
  try {
    return await readJson(c, limits);
  } catch (error) {
    if (error instanceof HoldfastError && error.code === "invalid_input") return new NotJson(error);
    throw error;
  }
}

/** Batches, which only an early version of the protocol had, are refused: one request would count for many. */
const refusal = (code: number, message: string): Response =>
  Response.json(
    { jsonrpc: "2.0", error: { code, message }, id: null },
    { status: 400, headers: { "cache-control": "no-store" } },
  );

function settingsOf(c: Context): z.output<typeof Settings> {
  const query = c.req.query();
  const unknown = Object.keys(query).find((name) => !KNOWN.has(name));
  if (unknown === undefined) return parseWith(Settings, query, PARTS.query);
  throw new HoldfastError(
    "invalid_input",
    `unknown query parameter: ${unknown.slice(0, 64)}${didYouMean(unknown, KNOWN)}`,
    {
      hint: `this route takes ${[...KNOWN].join(", ")}`,
    },
  );
}
