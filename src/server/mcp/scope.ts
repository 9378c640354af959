/**
 * The scope of an MCP client comes from its URL or its headers, never from the model.
 *
 *   /mcp?user=ada&session=monday          Holdfast-User: ada
 *
 * Without either, a key for one space selects that space; without keys the user is `default`, as everywhere.
 */

import type { Context } from "hono";
import type { Caller } from "../../calls/caller.js";
import { HoldfastError } from "../../errors.js";
import { SCOPE_KEYS, ScopeSchema, SPACE_KINDS } from "../../schemas/scope.js";
import { parseWith } from "../../schemas/validation.js";
import type { Scope } from "../../types.js";
import { headerText, PARTS } from "../request.js";

const DEFAULT_USER = "default";

/** Requires an admitted caller. Throws `forbidden` if its key does not cover the scope. */
export function scopeOfRequest(c: Context, caller: Caller): Scope {
  const given: Record<string, string> = {};
  for (const name of SCOPE_KEYS) {
    const inHeader = headerText(c, headerOf(name));
    const [value, other] = new Set([...(c.req.queries(name) ?? []), ...(inHeader === undefined ? [] : [inHeader])]);
    if (other !== undefined) throw contradiction(name);
    if (value !== undefined) given[name] = value;
  }
  const scope = parseWith(ScopeSchema, given, PARTS.query) as Scope;
  const whole = SPACE_KINDS.some((kind) => scope[kind] !== undefined) ? scope : { ...scope, ...ownSpace(caller) };
  caller.requireScope(whole);
  return whole;
}

/** Holdfast-User, Holdfast-Agent … */
const headerOf = (name: string): string => `holdfast-${name}`;

function ownSpace(caller: Caller): Scope {
  if (!caller.key) return { user: DEFAULT_USER };
  const named = SPACE_KINDS.flatMap((kind) => caller.named(kind));
  const [only] = named;
  if (only && named.length === 1 && !SPACE_KINDS.some((kind) => caller.coversAll(kind))) return only;
  throw new HoldfastError("invalid_input", "the request names no scope", {
    hint: "add it: /mcp?user=NAME, or the header Holdfast-User; a key for one space needs neither",
  });
}

const contradiction = (name: string): HoldfastError =>
  new HoldfastError("invalid_input", `the URL and the header ${headerOf(name)} name more than one ${name}`, {
    hint: "name exactly one",
    details: { field: name },
  });
