/**
 * Answers one request of an MCP client. Each request gets its own MCP server, bound to one scope.
 *
 * Invariant: a response is complete before it is returned, so the request counts as in progress until then and a stopping
 * server still delivers it. Only `subscriptions/listen` stays open (listening.ts).
 */
import { createMcpHandler } from "@modelcontextprotocol/server";
import type { Caller } from "../../calls/caller.js";
import { HoldfastError } from "../../errors.js";
import { groupsOf } from "../../mcp/groups.js";
import { mcpServerOf } from "../../mcp/server.js";
import type { Memory } from "../../memory.js";
import type { Access } from "../../stores/keys.js";
import type { Scope } from "../../types.js";
import { shown } from "../answer.js";
import { RECHECK_MS } from "../validity.js";
import { BlockBus } from "./block-bus.js";
import { isListening, listening, type StreamRequest } from "./listening.js";

export interface Exchange extends StreamRequest {
  readonly memory: Memory;
  readonly caller: Caller;
  readonly scope: Scope;
  /** Names of tool groups, separated by commas. */
  readonly tools: string | undefined;
  readonly maxTokens: number;
  readonly request: Request;
  /** Undefined: the request has no body. */
  readonly body: unknown;
  readonly failed: (error: unknown) => void;
}

/** Rejects with `invalid_input` if a tool group is unknown, with `overloaded` if too many streams are open. */
export async function answerMcp(exchange: Exchange): Promise<Response> {
  const { memory, caller, scope, tools, maxTokens, request, body, failed } = exchange;
  const { clock } = memory.service;
  const groups = groupsOf(tools);
  const may = (access: Access): boolean => caller.may(access);
  const require = (access: Access): void => caller.require(access);
  const session = memory.session(scope);
  const bus = new BlockBus({ session, clock, failed });
  const handler = createMcpHandler(
    ({ era }) =>
      mcpServerOf({
        groups,
        open: async () => ({ session, memory, maxTokens, may, require }),
        may,
        subscribes: era === "modern", // an older client has no stream that outlives its request
        onFailure: (_, error) => {
          failed(error);
          return error instanceof HoldfastError ? shown(error) : error;
        },
      }),
    { bus, keepAliveMs: RECHECK_MS },
  );
  const { method, url, headers } = request;
  const answer = (signal: AbortSignal): Promise<Response> =>
    handler.fetch(new Request(url, { method, headers, signal }), body === undefined ? {} : { parsedBody: body });
  const response = isListening(body)
    ? await listening(exchange, clock, bus, answer)
    : await whole(await answer(request.signal));
  response.headers.set("cache-control", "no-store");
  return response;
}

const whole = async (response: Response): Promise<Response> =>
  response.body ? new Response(await response.arrayBuffer(), response) : response;
