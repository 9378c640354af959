/** What answers and rankings weigh in memory: estimates that are rather too high. */
import type { Hits } from "../../types.js";

/** An object with a dozen fields, and what points to it. */
const HIT_BYTES = 512;
/** A reference with the shares of its score. */
const FOUND_BYTES = 400;
const OBJECT_BYTES = 64;
const VALUE_BYTES = 16;

/** Strings take one or two bytes per unit; two are counted. */
export const bytesOfText = (text: string | undefined): number => 2 * (text?.length ?? 0);

export function bytesOfFound(found: readonly { readonly id: string }[]): number {
  return found.reduce((bytes, { id }) => bytes + FOUND_BYTES + bytesOfText(id), OBJECT_BYTES);
}

export function bytesOfHits(hits: Hits): number {
  return hits.reduce((bytes, { content, parts, metadata, ...hit }) => {
    const names = bytesOfText(hit.id) + bytesOfText(hit.session) + bytesOfText(hit.agent) + bytesOfText(hit.name);
    return bytes + HIT_BYTES + names + bytesOfText(content) + bytesOfJson(parts) + bytesOfJson(metadata);
  }, OBJECT_BYTES);
}

function bytesOfJson(value: unknown): number {
  if (typeof value === "string") return VALUE_BYTES + bytesOfText(value);
  if (typeof value !== "object" || value === null) return VALUE_BYTES;
  return Object.entries(value).reduce(
    (bytes, [key, part]) => bytes + bytesOfText(key) + bytesOfJson(part),
    OBJECT_BYTES,
  );
}
