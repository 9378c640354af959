/**
 * Plain messages: one JSON object per line with role and content, without header or ids.
 *
 * A line without an id gets one derived from its position and content, so importing the same file again adds nothing. Each
 * line is its own round.
 */
import { createHash } from "node:crypto";
import { type Fields, invalid, objectWith } from "../input/refusal.js";
import type { ParsedScope } from "../input/scope.js";
import { type ItemInput, parseRow } from "./line.js";
import { named } from "./named.js";

const KEYS: ReadonlySet<string> = new Set("id role name content occurredAt metadata tier expiresAt session".split(" "));

export function parsePlain(value: Fields, number: number, scope: ParsedScope | undefined, now: number): ItemInput {
  if (scope === undefined) {
    throw invalid("the first line", "is not the header of an export", "plain messages need a `scope` to go to");
  }
  const { session: own, ...message } = objectWith(value, KEYS, "the line");
  const { session } = { ...scope, ...named("session", own) };
  const row = parseRow({ id: "line", ...message }, now); // refuses content nested too deeply to serialize
  const id = message["id"] === undefined ? idOf(message, number, scope, session) : row.id;
  return {
    type: "item",
    space: scope.space,
    ...(session !== undefined && { session }),
    ...(scope.agent !== undefined && { agent: scope.agent }),
    round: number,
    row: { ...row, id },
  };
}

function idOf({ role, name, content }: Fields, number: number, { space }: ParsedScope, session?: string): string {
  const said = JSON.stringify([space, session ?? null, number, role ?? null, name ?? null, content ?? null]);
  return `line-${number}-${createHash("sha256").update(said).digest("base64url")}`;
}
