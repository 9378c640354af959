/**
 * Entities and relations as items: of kind knowledge, found, exported and forgotten like everything else.
 *
 * - The id follows from the name (of a relation: from all three texts), so that two who create the same thing meet at one
 *   id. The reference server keeps what comes twice in one call twice: the ordinal tells them apart.
 * - The first part says what it is, in a form to read and in one to search; the observations of an entity are text parts.
 * - An item can be edited like every other, and then be nothing of the graph any more. It does not keep others from its
 *   name: what is created there takes its place, and what was written there stays with it.
 * - Any text comes back as it was given. The engine replaces NUL and halves of surrogate pairs in content; a part that has
 *   such a text also keeps it as JSON, which escapes them.
 */
import { createHash } from "node:crypto";
import { repairText } from "../text.js";
import type { Item, ItemPatch, NewItem, Part } from "../types.js";
import type { Entity, Relation } from "./graph.js";

export type GraphKind = "entity" | "relation";

/** An item to be added. */
export interface Draft {
  readonly id: string;
  /** The id of the first of its name: if that one is somebody else's, this one is not to be added. */
  readonly first: string;
  readonly kind: GraphKind;
  readonly parts: readonly Part[];
}

export function entityDraft(entity: Entity, ordinal: number): Draft {
  const id = (at: number) => idOf("entity", [entity.name], at);
  return { id: id(ordinal), first: id(0), kind: "entity", parts: entityParts(entity) };
}

export function relationDraft(relation: Relation, ordinal: number): Draft {
  const { from, relationType, to } = relation;
  const id = (at: number) => idOf("relation", [from, relationType, to], at);
  const description = `${from} ${relationType.replaceAll("_", " ")} ${to}`;
  const head = { type: "relation", from, relationType, to, description, ...exactly([from, relationType, to]) };
  return { id: id(ordinal), first: id(0), kind: "relation", parts: [head] };
}

export const entityId = (name: string): string => idOf("entity", [name], 0);

export const relationId = ({ from, relationType, to }: Relation): string =>
  idOf("relation", [from, relationType, to], 0);

/** `call` names the call that adds it: so it knows what it has added itself. */
export const itemOf = ({ id, kind, parts }: Draft, call: string): NewItem => ({
  id,
  kind: "knowledge",
  tier: "semantic",
  content: parts,
  metadata: { graph: kind, call },
});

/** For an item that is no part any more. What stands in it follows: its texts are observations of the entity then. */
export const inPlaceOf = ({ content, parts, metadata }: Item, draft: Draft, call: string): ItemPatch => ({
  content: [...draft.parts, ...(parts ?? [{ type: "text", text: content }])],
  metadata: { ...metadata, graph: draft.kind, call },
});

/** Whether the item is still an entity, or a relation, of the graph. */
export const isPart = (item: Item, kind: GraphKind): boolean =>
  item.metadata["graph"] === kind && (kind === "entity" ? entityOf(item) : relationOf(item)) !== undefined;

export function entityParts({ name, entityType, observations }: Entity): readonly Part[] {
  const description = entityType === "" ? name : `${name} (${entityType})`;
  const head = { type: "entity", name, entityType, description, ...exactly([name, entityType]) };
  return [head, ...observations.map((text) => ({ type: "text", text, ...exactly([text]) }))];
}

/** Undefined if somebody has made something else of the item. */
export function entityOf({ parts = [] }: Item): Entity | undefined {
  const [head, ...rest] = parts;
  const [name, entityType] = textsOf(head, "entity", ["name", "entityType"]) ?? [];
  if (name === undefined || entityType === undefined) return undefined;
  return { name, entityType, observations: rest.flatMap((part) => textsOf(part, "text", ["text"]) ?? []) };
}

export function relationOf({ parts = [] }: Item): Relation | undefined {
  const [from, relationType, to] = textsOf(parts[0], "relation", ["from", "relationType", "to"]) ?? [];
  if (from === undefined || relationType === undefined || to === undefined) return undefined;
  return { from, to, relationType };
}

function idOf(kind: GraphKind, texts: readonly string[], ordinal: number): string {
  const hash = createHash("sha256").update(JSON.stringify(texts)).digest("base64url");
  return ordinal === 0 ? `${kind}-${hash}` : `${kind}-${hash}-${ordinal}`;
}

function exactly(texts: readonly string[]): { readonly exact?: string } {
  return texts.every((text) => text === repairText(text)) ? {} : { exact: JSON.stringify(texts) };
}

/** The texts under these keys of a part of this type, as they were given. */
function textsOf(part: Part | undefined, type: string, keys: readonly string[]): readonly string[] | undefined {
  if (part?.type !== type) return undefined;
  const fields = part as { readonly [key: string]: unknown };
  const texts = keys.map((key) => fields[key]);
  if (!areStrings(texts)) return undefined;
  const exact = listOf(fields["exact"]);
  // Only what the engine replaced may differ: an item that was edited since is believed as it stands.
  const isSame = exact.length === texts.length && texts.every((text, at) => text === repairText(exact[at] ?? ""));
  return isSame ? exact : texts;
}

function listOf(json: unknown): readonly string[] {
  try {
    const value: unknown = typeof json === "string" ? JSON.parse(json) : [];
    return Array.isArray(value) && areStrings(value) ? value : [];
  } catch {
    return []; // somebody has edited it: the plain texts count
  }
}

const areStrings = (values: readonly unknown[]): values is readonly string[] =>
  values.every((value) => typeof value === "string");
