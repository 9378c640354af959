import { createHash } from "node:crypto";
import type { Json } from "../types.js";
import type { ParsedRound } from "./message.js";

/** The form below. Hashes are kept with idempotency keys, so another form needs another name. */
const FORM = "holdfast round 1";

/**
 * The SHA-256 of what a caller said in one call, in base64url. A retry of the same call hashes equal: ids and times that
 * we made are left out, keys are sorted. Any other difference in what was said hashes differently.
 */
export function payloadHash({ rows, given }: ParsedRound): string {
  const said = rows.map((row, index) => [
    row.kind,
    row.role ?? null,
    row.name ?? null,
    row.content,
    row.parts === undefined ? null : sorted(row.parts as Json),
    sorted(row.metadata),
    row.tier,
    given[index]?.id ? row.id : null,
    given[index]?.occurredAt ? row.occurredAt : null,
    row.expiresAt ?? null,
  ]);
  return createHash("sha256")
    .update(JSON.stringify([FORM, said]))
    .digest("base64url");
}

function sorted(value: Json): Json {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(sorted);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}
