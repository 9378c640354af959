/** Hashes of requests. They are stored with idempotency keys, so a change of the hashed form needs a new prefix. */
import { createHash } from "node:crypto";
import type { ParsedRound } from "./message.js";
import { invalid } from "./refusal.js";

/**
 * The SHA-256 of the caller's input to one add, in base64url. A retry of the same call has the same hash: generated ids
 * and times are excluded, and keys are sorted. Any other difference in the input changes the hash.
 */
export function payloadHash({ rows, given }: ParsedRound): string {
  const said = rows.map((row, index) => [
    row.kind,
    row.role ?? null,
    row.name ?? null,
    row.content,
    row.parts ?? null,
    row.metadata,
    row.tier,
    given[index]?.id ? row.id : null,
    given[index]?.occurredAt ? row.occurredAt : null,
    row.expiresAt ?? null,
  ]);
  return hashOf(["holdfast round 1", said]);
}

/** The hash of any other call: its name and its arguments. */
export function requestHash(call: string, given: readonly unknown[]): string {
  return hashOf(["holdfast request 1", call, given]);
}

function hashOf(value: unknown): string {
  return createHash("sha256").update(textOf(value)).digest("base64url");
}

function textOf(value: unknown): string {
  try {
    return JSON.stringify(value, sortingKeys);
  } catch {
    throw invalid("what is given", "cannot be written as JSON", "leave out what refers to itself, and BigInts");
  }
}

function sortingKeys(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
