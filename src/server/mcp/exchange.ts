/**
 * One request of an MCP client, answered: by a server of its own that knows one scope and is gone with the answer.
 *
 * Invariant: an answer is whole before it is given, so that the request counts as one that is worked on until then, and a
 * server that stops still gives it. What stays open is a `Listening`.
 */
import { createMcpHandler } from "@modelcontextprotocol/server";
import { groupsOf } from "../../mcp/groups.js";
import { mcpServerOf } from "../../mcp/server.js";
import type { Memory } from "../../memory.js";
import type { Access } from "../../stores/keys.js";
import type { Scope } from "../../types.js";
import type { Caller } from "../caller.js";
import { BlockBus } from "./block-bus.js";
import { CONFIRM_MS, isListening, listening, type Standing } from "./listening.js";

export interface Exchange extends Standing {
  readonly memory: Memory;
  readonly caller: Caller;
  readonly scope: Scope;
  /** Names of groups, with commas. */
  readonly tools: string | undefined;
  readonly maxTokens: number;
  readonly request: Request;
  /** Undefined: the request has no body. */
  readonly body: unknown;
  readonly failed: (error: unknown) => void;
}

/** Rejects with `invalid_input` where a group of tools is unknown, with `overloaded` where too many listen. */
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
        onFailure: (_, error) => failed(error),
      }),
    { bus, keepAliveMs: CONFIRM_MS },
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
