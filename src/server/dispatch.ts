/**
 * Dispatch: a request on its way through: door → schemas → scope of the key → handler → envelope. It is the same for every
 * operation, so no route can forget a check.
 */
import type { Context } from "hono";
import { HoldfastError } from "../errors.js";
import type { Memory } from "../memory.js";
import type { Operation } from "../schemas/operation.js";
import { SCOPE_KEYS, ScopeSchema } from "../schemas/scope.js";
import type { Session } from "../session.js";
import type { Scope, SpaceRef } from "../types.js";
import { success } from "./answer.js";
import { type AttendParts, attend, bytesToCome } from "./attend.js";
import { actorsIn, type Call, spacesIn } from "./call.js";
import type { Caller } from "./caller.js";
import { queryWithName } from "./memfuse/raw-name.js";
import { idempotencyKeyOf, parseWith, readJson } from "./request.js";

export interface DispatchParts extends AttendParts {
  readonly memory: Memory;
  readonly maxBodyBytes: number;
}

/** An answer of a handler: data for the envelope, or a response of its own (a stream, another status). */
export type AnyHandler = (call: Call, c: Context) => Promise<unknown>;

const SCOPE_SET: ReadonlySet<string> = new Set(SCOPE_KEYS);

/** The Hono handler of an operation. */
export function dispatch(parts: DispatchParts, operation: Operation, handler: AnyHandler) {
  const { route, access } = operation;
  return (c: Context): Promise<Response> =>
    attend(
      parts,
      c,
      { route, isOpen: access === "none", bytes: bodyBytes(c, operation, parts.maxBodyBytes) },
      async (caller) => {
        const given = await handler(await callOf(parts, operation, caller, c), c);
        return given instanceof Response ? given : success(given, statusOf(operation, given));
      },
    );
}

/** A stream is read line by line, and holds nothing. */
const bodyBytes = (c: Context, { body }: Operation, max: number): number => (body ? bytesToCome(c, max) : 0);

/** A repeated add has added nothing; of several, none has. */
function statusOf({ status }: Operation, data: unknown): number {
  const parts = (Array.isArray(data) ? data : [data]) as readonly ({ readonly repeated?: boolean } | null)[];
  return status === 201 && parts.length > 0 && parts.every((part) => part?.repeated) ? 200 : status;
}

async function callOf(
  parts: DispatchParts,
  operation: Operation,
  caller: Caller | undefined,
  c: Context,
): Promise<Call> {
  if (operation.access !== "none") caller?.require(operation.access);
  const given = operation.rawName ? queryWithName(c.req.url, operation.query) : c.req.query();
  const { scope, rest } = split(given, operation);
  if (caller) checkScope(operation, scope, caller);
  const params = operation.params && parseWith(operation.params, c.req.param(), "");
  const query = operation.query && parseWith(operation.query, rest, "");
  const body = operation.body && parseWith(operation.body, (await readJson(c, parts.maxBodyBytes)) ?? {}, "");
  const named = spacesIn(body);
  for (const space of named) caller?.requireSpace(space);
  for (const actor of actorsIn(body)) caller?.requireActor(actor);
  return new RequestCall(parts.memory, caller, scope, named, { params, query, body }, idempotencyKeyOf(c));
}

/** The query string in its two parts. An operation that takes no scope refuses one. */
function split(query: Record<string, string>, { scope: use, query: schema }: Operation) {
  const where: Record<string, string> = {};
  const rest: Record<string, string> = {};
  for (const [name, value] of Object.entries(query)) {
    if (use !== "none" && SCOPE_SET.has(name)) where[name] = value;
    else rest[name] = value;
  }
  if (!schema) {
    for (const name of Object.keys(rest)) {
      throw new HoldfastError("invalid_input", `the query string has an unknown key: ${name.slice(0, 64)}`, {
        hint: use === "none" ? "this route takes none" : `it takes the scope: ${SCOPE_KEYS.join(", ")}`,
      });
    }
  }
  return { scope: parseWith(ScopeSchema, where, "") as Scope, rest };
}

function checkScope({ scope: use }: Operation, scope: Scope, caller: Caller): void {
  if (use === "none") return;
  const isGiven = Object.keys(scope).length > 0;
  if (use === "own" || isGiven) caller.requireScope(scope);
  else if (use === "optional") caller.require("admin");
}

class RequestCall implements Call {
  readonly memory: Memory;
  readonly caller: Caller;
  readonly scope: Scope;
  readonly params: never;
  readonly query: never;
  readonly body: never;
  readonly idempotencyKey: string | undefined;
  readonly #grants: readonly SpaceRef[];

  constructor(
    memory: Memory,
    caller: Caller | undefined,
    scope: Scope,
    grants: readonly SpaceRef[],
    { params, query, body }: { params: unknown; query: unknown; body: unknown },
    idempotencyKey: string | undefined,
  ) {
    this.memory = memory;
    this.caller = caller as Caller;
    this.scope = scope;
    this.#grants = grants;
    this.params = params as never;
    this.query = query as never;
    this.body = body as never;
    this.idempotencyKey = idempotencyKey;
  }

  get session(): Session {
    return this.memory.session(this.scope, { grants: this.#grants });
  }
}
