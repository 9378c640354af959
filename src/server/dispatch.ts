/**
 * Dispatches a request: admission → scope and key → schemas → handler → envelope. All operations share this path, so no
 * route can skip a check.
 */
import type { Context } from "hono";
import { actorsIn, type Call, type Slot, spacesIn } from "../calls/call.js";
import type { Caller } from "../calls/caller.js";
import { queryWithName } from "../compat/memfuse/raw-name.js";
import { HoldfastError } from "../errors.js";
import { didYouMean } from "../input/nearest.js";
import type { Memory } from "../memory.js";
import type { Operation } from "../schemas/operation.js";
import { SCOPE_KEYS, ScopeSchema } from "../schemas/scope.js";
import { parseWith } from "../schemas/validation.js";
import type { Session } from "../session.js";
import type { Scope, SpaceRef } from "../types.js";
import { success } from "./answer.js";
import { type AttendParts, attend } from "./attend.js";
import type { BodyLimits } from "./body.js";
import { idempotencyKeyOf, PARTS, readJson } from "./request.js";

interface BodyParts {
  readonly memory: Memory;
  readonly maxBodyBytes: number;
}

export interface DispatchParts extends AttendParts, BodyParts {}

/** Returns data for the envelope, or a complete `Response` (a stream, or another status). */
export type AnyHandler = (call: Call, c: Context) => Promise<unknown>;

const SCOPE_SET: ReadonlySet<string> = new Set(SCOPE_KEYS);

/** Makes the Hono handler of an operation. */
export function dispatch(parts: DispatchParts, operation: Operation, handler: AnyHandler) {
  const { route, access } = operation;
  return (c: Context): Promise<Response> =>
    attend(parts, c, { route, isOpen: access === "none" }, async (caller, slot) => {
      const given = await handler(await callOf(parts, operation, { caller, slot }, c), c);
      return given instanceof Response ? given : success(given, statusOf(operation, given), slot.answer);
    });
}

/** 200 instead of 201 if the request was a retry that added nothing. */
function statusOf({ status }: Operation, data: unknown): number {
  const parts = (Array.isArray(data) ? data : [data]) as readonly ({ readonly repeated?: boolean } | null)[];
  return status === 201 && parts.length > 0 && parts.every((part) => part?.repeated) ? 200 : status;
}

async function callOf(
  parts: DispatchParts,
  operation: Operation,
  { caller, slot }: { readonly caller: Caller | undefined; readonly slot: Slot },
  c: Context,
): Promise<Call> {
  if (operation.access !== "none") caller?.require(operation.access);
  const given = operation.rawName ? queryWithName(c.req.url, operation.query) : c.req.query();
  const { scope, rest } = split(given, operation);
  if (caller) checkScope(operation, scope, caller);
  const params = operation.params && parseWith(operation.params, c.req.param(), PARTS.path);
  const query =
    operation.query &&
    parseWith(operation.query, rest, { ...PARTS.query, otherKeys: operation.scope === "none" ? [] : SCOPE_KEYS });
  const body =
    operation.body && parseWith(operation.body, (await readJson(c, limitsOf(parts, slot))) ?? {}, PARTS.body);
  const named = spacesIn(body);
  for (const space of named) caller?.requireSpace(space);
  for (const actor of actorsIn(body)) caller?.requireActor(actor);
  const key = operation.retry === "key" ? idempotencyKeyOf(c) : undefined;
  return new RequestCall(parts.memory, { caller, slot, scope }, named, { params, query, body }, key);
}

/** The limits for the body of a request. */
export const limitsOf = ({ memory, maxBodyBytes }: BodyParts, { hold }: Slot): BodyLimits => ({
  maxBytes: maxBodyBytes,
  clock: memory.service.clock,
  hold,
});

/** Splits the query string into scope and parameters. An operation without a scope refuses scope keys. */
function split(query: Record<string, string>, { scope: use, query: schema }: Operation) {
  const isScope = ([name]: readonly [string, string]): boolean => use !== "none" && SCOPE_SET.has(name);
  const given = Object.entries(query);
  const where = Object.fromEntries(given.filter(isScope));
  const rest = Object.fromEntries(given.filter((pair) => !isScope(pair))); // fromEntries: `__proto__` is an ordinary key
  if (!schema) {
    for (const name of Object.keys(rest)) {
      const known = use === "none" ? [] : SCOPE_KEYS;
      throw new HoldfastError(
        "invalid_input",
        `unknown query parameter: ${name.slice(0, 64)}${didYouMean(name, known)}`,
        {
          hint:
            use === "none"
              ? "this route takes no parameters"
              : `this route takes the scope only: ${SCOPE_KEYS.join(", ")}`,
        },
      );
    }
  }
  return { scope: parseWith(ScopeSchema, where, PARTS.query) as Scope, rest };
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
  readonly slot: Slot;
  readonly scope: Scope;
  readonly params: never;
  readonly query: never;
  readonly body: never;
  readonly idempotencyKey: string | undefined;
  readonly #grants: readonly SpaceRef[];

  constructor(
    memory: Memory,
    { caller, slot, scope }: { caller: Caller | undefined; slot: Slot; scope: Scope },
    grants: readonly SpaceRef[],
    { params, query, body }: { params: unknown; query: unknown; body: unknown },
    idempotencyKey: string | undefined,
  ) {
    this.memory = memory;
    this.caller = caller as Caller;
    this.slot = slot;
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
