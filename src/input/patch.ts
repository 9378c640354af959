import type { UpdateWrite } from "../stores/store.js";
import { ROLES, TIERS } from "../types.js";
import { parseContent } from "./content.js";
import { parseInstant } from "./instant.js";
import { parseSpeaker } from "./message.js";
import { parseMetadata } from "./metadata.js";
import { invalid, objectWith, parseChoice } from "./refusal.js";

type Patch = UpdateWrite["patch"];

const PATCH_KEYS: ReadonlySet<string> = new Set("content role name metadata tier occurredAt expiresAt".split(" "));

/**
 * Parses the changes to an item. A key that is omitted or undefined changes nothing; null removes an optional field.
 */
export function parsePatch(value: unknown, where = "patch"): Patch {
  const { content, role, name, metadata, tier, occurredAt, expiresAt } = objectWith(value, PATCH_KEYS, where);
  const patch: { -readonly [key in keyof Patch]: Patch[key] } = {};
  if (content !== undefined) {
    const parsed = parseContent(content, `${where}.content`);
    patch.content = parsed.content;
    patch.parts = parsed.parts ?? null;
  }
  if (role !== undefined) patch.role = parseChoice(role, ROLES, `${where}.role`);
  if (name !== undefined) patch.name = name === null ? null : parseSpeaker(name, `${where}.name`);
  if (metadata !== undefined) patch.metadata = parseMetadata(metadata, `${where}.metadata`);
  if (tier !== undefined) patch.tier = parseChoice(tier, TIERS, `${where}.tier`);
  if (occurredAt !== undefined) patch.occurredAt = parseInstant(occurredAt, `${where}.occurredAt`);
  if (expiresAt !== undefined) {
    patch.expiresAt = expiresAt === null ? null : parseInstant(expiresAt, `${where}.expiresAt`);
  }
  if (Object.keys(patch).length === 0) {
    throw invalid(where, "changes nothing", `give at least one of ${[...PATCH_KEYS].join(", ")}`);
  }
  return patch;
}
