/** A line of the reference server's memory file (memory.jsonl): an entity or a relation as JSON. */
import { HoldfastError } from "../../errors.js";
import { parseJson } from "../../input/json-text.js";
import { type Fields, invalid } from "../../input/refusal.js";
import type { Entity, Relation } from "./graph.js";
import { parseEntity, parseRelation } from "./graph-input.js";

export type GraphLine =
  | { readonly type: "entity"; readonly entity: Entity }
  | { readonly type: "relation"; readonly relation: Relation };

/** Byte for byte as the reference server writes it. */
export const entityLine = ({ name, entityType, observations }: Entity): string =>
  JSON.stringify({ type: "entity", name, entityType, observations });

export const relationLine = ({ from, to, relationType }: Relation): string =>
  JSON.stringify({ type: "relation", from, to, relationType });

/** Parses a line, or returns why it cannot. An entity without a list of observations has none. */
export function parseGraphLine(text: string): GraphLine | string {
  try {
    const fields = objectIn(text);
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

function objectIn(text: string): Fields {
  const value = parseJson(text, "it");
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
  throw invalid("it", "is not a JSON object");
}
