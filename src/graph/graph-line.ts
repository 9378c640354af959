/** A line of the reference server's memory file (memory.jsonl): one entity or one relation as JSON. */
import { HoldfastError } from "../errors.js";
import type { Fields } from "../input/refusal.js";
import type { Entity, Relation } from "./graph.js";
import { parseEntity, parseRelation } from "./graph-input.js";

export type GraphLine =
  | { readonly type: "entity"; readonly entity: Entity }
  | { readonly type: "relation"; readonly relation: Relation };

/** As the reference server writes it, byte for byte. */
export const entityLine = ({ name, entityType, observations }: Entity): string =>
  JSON.stringify({ type: "entity", name, entityType, observations });

export const relationLine = ({ from, to, relationType }: Relation): string =>
  JSON.stringify({ type: "relation", from, to, relationType });

/** What a line says, or why it says nothing. An entity without a list of observations has none. */
export function parseGraphLine(text: string): GraphLine | string {
  const fields = jsonOf(text);
  if (!fields) return "it is not a JSON object";
  try {
    if (fields["type"] === "entity") {
      return { type: "entity", entity: parseEntity({ observations: [], ...fields }, "the entity") };
    }
    if (fields["type"] === "relation") return { type: "relation", relation: parseRelation(fields, "the relation") };
  } catch (error) {
    if (error instanceof HoldfastError) return error.message;
    throw error;
  }
  return "its type is neither entity nor relation";
}

function jsonOf(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
  } catch {
    return undefined; // the parser's own words would quote the content
  }
}
