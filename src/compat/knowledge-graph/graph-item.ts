/**
 * Entities and relations as items of kind knowledge, searched, exported and forgotten like everything else.
 *
 * - The id is derived from the name (for a relation: from all three texts), so that concurrent creators of the same thing meet
 *   at one id. The reference server keeps duplicates within one call; the ordinal distinguishes them.
 * - The first part describes the thing, in a readable and in a searchable form; an entity's observations are text parts.
 * - An item can be edited by other means, and may then no longer be part of the graph. It does not block its name: a new
 *   thing replaces it and keeps its text.
 * - Any text is returned as given. The engine replaces NUL and lone surrogates in content; a part with such text also keeps it
 *   as JSON, which escapes them.
 */
import { createHash } from "node:crypto";
import { repairText } from "../../text.js";
import type { Item, ItemPatch, NewItem, Part } from "../../types.js";
import type { Entity, Relation } from "./graph.js";

export type GraphKind = "entity" | "relation";

/** An item to add. */
export interface Draft {
  readonly id: string;
  /** The id of the first item of its name. If that item is not part of the graph, this one is not added. */
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

/** `call` identifies the call that adds the item, so that it recognises its own additions. */
export const itemOf = ({ id, kind, parts }: Draft, call: string): NewItem => ({
  id,
  kind: "knowledge",
  tier: "semantic",
  content: parts,
  metadata: { graph: kind, call },
});

/** Replaces an item that is no longer part of the graph. Its texts become observations of the entity. */
export const inPlaceOf = ({ content, parts, metadata }: Item, draft: Draft, call: string): ItemPatch => ({
  content: [...draft.parts, ...(parts ?? [{ type: "text", text: content }])],
  metadata: { ...metadata, graph: draft.kind, call },
});

/** Whether the item is still an entity or a relation of the graph. */
export const isPart = (item: Item, kind: GraphKind): boolean =>
  item.metadata["graph"] === kind && (kind === "entity" ? entityOf(item) : relationOf(item)) !== undefined;

export function entityParts({ name, entityType, observations }: Entity): readonly Part[] {
  const description = entityType === "" ? name : `${name} (${entityType})`;
  const head = { type: "entity", name, entityType, description, ...exactly([name, entityType]) };
  return [head, ...observations.map((text) => ({ type: "text", text, ...exactly([text]) }))];
}

/** Undefined if the item was edited into something else. */
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

/** The original texts under these keys of a part of this type. */
function textsOf(part: Part | undefined, type: string, keys: readonly string[]): readonly string[] | undefined {
  if (part?.type !== type) return undefined;
  const fields = part as { readonly [key: string]: unknown };
  const texts = keys.map((key) => fields[key]);
  if (!areStrings(texts)) return undefined;
  const exact = listOf(fields["exact"]);
  // Only what the engine replaced may differ; if the item was edited since, its plain texts count.
  const isSame = exact.length === texts.length && texts.every((text, at) => text === repairText(exact[at] ?? ""));
  return isSame ? exact : texts;
}

function listOf(json: unknown): readonly string[] {
  try {
    const value: unknown = typeof json === "string" ? JSON.parse(json) : [];
    return Array.isArray(value) && areStrings(value) ? value : [];
  } catch {
    return []; // it was edited: the plain texts count
  }
}

const areStrings = (values: readonly unknown[]): values is readonly string[] =>
  values.every((value) => typeof value === "string");
