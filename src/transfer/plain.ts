/**
 * Messages as people have them: a JSON object per line with role and content, no header, no ids needed.
 *
 * A line without an id gets one that follows from where it stands and what it says, so that the same file imported again
 * adds nothing. Each line is a round of its own.
 */
import { createHash } from "node:crypto";
import { type Fields, invalid, objectWith } from "../input/refusal.js";
import type { ParsedScope } from "../input/scope.js";
import { type ItemInput, parseRow } from "./line.js";
import { named } from "./named.js";

const KEYS: ReadonlySet<string> = new Set("id role name content occurredAt metadata tier expiresAt session".split(" "));

export function parsePlain(value: Fields, number: number, scope: ParsedScope | undefined, now: number): ItemInput {
  if (scope === undefined) {
    throw invalid("the first line", "is no header of an export", "for plain messages say where they go: `scope`");
  }
  const { session: own, ...message } = objectWith(value, KEYS, "the line");
  const { session } = { ...scope, ...named("session", own) };
  const row = parseRow({ id: "line", ...message }, now); // refuses what is nested too deeply to be written as text
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
