/**
 * One request of an MCP client, answered: by a server of its own that knows one scope and is gone with the answer. What
 * stays open (`subscriptions/listen`) is asked for its key again and again, as every stream is.
 */
import { createMcpHandler } from "@modelcontextprotocol/server";
import { groupsOf } from "../../mcp/groups.js";
import { mcpServerOf } from "../../mcp/server.js";
import type { Memory } from "../../memory.js";
import type { Scope } from "../../types.js";
import type { Caller } from "../caller.js";
import { coversTheSame } from "../validity.js";
import { BlockBus } from "./block-bus.js";

export interface Exchange {
  readonly memory: Memory;
  readonly caller: Caller;
  readonly scope: Scope;
  /** Names of groups, with commas. */
  readonly tools: string | undefined;
  readonly maxTokens: number;
  readonly request: Request;
  /** Undefined: the request has no body. */
  readonly body: unknown;
  /** The reader has gone, or the server stops. */
  readonly signal: AbortSignal;
  readonly confirm: () => Promise<Caller>;
  /** Counts an open stream in until the function that it gives is called. Throws when there are too many. */
  readonly listen: () => () => void;
  readonly failed: (error: unknown) => void;
}

const CONFIRM_MS = 15_000;

export async function answerMcp(exchange: Exchange): Promise<Response> {
  const { memory, caller, scope, tools, maxTokens, request, body, signal, failed } = exchange;
  const { clock } = memory.service;
  const session = memory.session(scope);
  const bus = new BlockBus({ session, clock, failed });
  const ending = new AbortController();
  const handler = createMcpHandler(
    ({ era }) =>
      mcpServerOf({
        groups: groupsOf(tools),
        open: async () => ({ session, memory, maxTokens, require: (access) => caller.require(access) }),
        may: (access) => caller.may(access),
        subscribes: era === "modern", // an older client has no stream that outlives its request
        onFailure: (_, error) => failed(error),
      }),
    { bus, keepAliveMs: CONFIRM_MS },
  );
  const heard = AbortSignal.any([signal, ending.signal]);
  const { method, url, headers } = request;
  const fetch = () =>
    handler.fetch(new Request(url, { method, headers, signal: heard }), body === undefined ? {} : { parsedBody: body });
  if (!isListening(body)) return fetch();

  const leave = exchange.listen();
  const cancel = confirming(exchange, () => ending.abort());
  heard.addEventListener("abort", stop, { once: true });
  function stop(): void {
    cancel();
    leave();
    bus.stop();
  }
  try {
    await bus.start();
    const response = await fetch();
    if (heard.aborted || !response.body) stop();
    return response.body ? ended(response, stop) : response;
  } catch (error) {
    stop();
    throw error;
  }
}

/** Calls `done` when all of the answer was read, or nobody reads it any more. */
function ended(response: Response, done: () => void): Response {
  const body = response.body?.pipeThrough(new TransformStream({ flush: done }));
  return new Response(body, response);
}

/** The caller's key, looked at every so often: one that is revoked, or covers other spaces by now, hears no more. */
function confirming({ memory, caller, confirm }: Exchange, end: () => void): () => void {
  const { clock } = memory.service;
  let isOver = false;
  let cancel = (): void => {};
  const again = (): void => {
    cancel = clock.after(CONFIRM_MS, () => {
      confirm().then((now) => {
        if (isOver) return;
        if (coversTheSame(caller, now)) again();
        else end();
      }, end);
    });
  };
  again();
  return () => {
    isOver = true;
    cancel();
  };
}

const isListening = (body: unknown): boolean =>
  typeof body === "object" && body !== null && "method" in body && body.method === "subscriptions/listen";
