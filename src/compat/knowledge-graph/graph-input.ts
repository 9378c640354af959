/** Validates graph input from callers and files. Unknown keys are ignored, as in the reference server. */
import { type Fields, wrongType } from "../../input/refusal.js";
import type { Entity, Relation } from "./graph.js";

/** Observations to add to an entity. */
export interface NewObservations {
  /** The entity, which must exist. */
  readonly entityName: string;
  /** The observations. Those that it has already are left out. */
  readonly contents: readonly string[];
}

/** Observations to remove from an entity. */
export interface OldObservations {
  /** The entity. */
  readonly entityName: string;
  /** The exact texts. */
  readonly observations: readonly string[];
}

export function parseEntity(value: unknown, where: string): Entity {
  const { name, entityType, observations } = fieldsOf(value, where);
  return {
    name: parseString(name, `${where}.name`),
    entityType: parseString(entityType, `${where}.entityType`),
    observations: parseStrings(observations, `${where}.observations`),
  };
}

export function parseRelation(value: unknown, where: string): Relation {
  const { from, to, relationType } = fieldsOf(value, where);
  return {
    from: parseString(from, `${where}.from`),
    to: parseString(to, `${where}.to`),
    relationType: parseString(relationType, `${where}.relationType`),
  };
}

export function parseAddition(value: unknown, where: string): NewObservations {
  const { entityName, contents } = fieldsOf(value, where);
  return {
    entityName: parseString(entityName, `${where}.entityName`),
    contents: parseStrings(contents, `${where}.contents`),
  };
}

export function parseDeletion(value: unknown, where: string): OldObservations {
  const { entityName, observations } = fieldsOf(value, where);
  return {
    entityName: parseString(entityName, `${where}.entityName`),
    observations: parseStrings(observations, `${where}.observations`),
  };
}

export function parseList<T>(value: unknown, where: string, parse: (one: unknown, where: string) => T): readonly T[] {
  if (!Array.isArray(value)) throw wrongType(where, "a list", value);
  return Array.from(value, (one: unknown, at) => parse(one, `${where}[${at}]`));
}

export const parseStrings = (value: unknown, where: string): readonly string[] => parseList(value, where, parseString);

export function parseString(value: unknown, where: string): string {
  if (typeof value !== "string") throw wrongType(where, "a string", value);
  return value;
}

function fieldsOf(value: unknown, where: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrongType(where, "an object", value);
  return value as Fields;
}
