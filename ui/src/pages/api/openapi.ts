/** The parts of the server's OpenAPI document that the page shows. */
import { send } from "../../app/connection.js";

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: { readonly [name: string]: Schema };
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: unknown;
}

interface Content {
  readonly [media: string]: { readonly schema: Schema; readonly example?: unknown };
}

interface Documented {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: { readonly [status: string]: { readonly description: string; readonly content: Content } };
  readonly "x-access": "none" | "read" | "write" | "admin";
  readonly "x-codeSamples": readonly CodeSample[];
}

export interface CodeSample {
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

interface Document {
  readonly paths: { readonly [path: string]: { readonly [method: string]: Documented } };
  readonly components: { readonly schemas: Schemas };
}

/** The named schemas. */
export type Schemas = { readonly [name: string]: Schema };

/** A body of one media type. */
export interface Body {
  readonly media: string;
  readonly schema: Schema;
  readonly example: unknown;
}

export interface Operation {
  readonly id: string;
  readonly tag: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly access: Documented["x-access"];
  readonly parameters: readonly Parameter[];
  readonly request?: Body;
  readonly status: string;
  readonly response?: Body;
  readonly samples: readonly CodeSample[];
}

export interface Api {
  readonly operations: readonly Operation[];
  readonly schemas: Schemas;
}

export const JSON_MEDIA = "application/json";

export async function readApi(signal: AbortSignal): Promise<Api> {
  const response = await send("/openapi.json", { signal });
  const { paths, components } = (await response.json()) as Document;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => operationOf(method.toUpperCase(), path, one)),
  );
  return { operations, schemas: components.schemas };
}

function operationOf(method: string, path: string, one: Documented): Operation {
  // The example of a write is the first answer, not that of a retry.
  const status =
    Object.keys(one.responses)
      .filter((code) => code !== "default")
      .at(-1) ?? "200";
  const [request, response] = [bodyIn(one.requestBody?.content), bodyIn(one.responses[status]?.content)];
  return {
    ...{ id: one.operationId, tag: one.tags[0] ?? "", method, path, summary: one.summary },
    ...{ description: one.description ?? "", access: one["x-access"], parameters: one.parameters, status },
    samples: one["x-codeSamples"],
    ...(request && { request }),
    ...(response && { response }),
  };
}

function bodyIn(content: Content | undefined): Body | undefined {
  const [media, found] = Object.entries(content ?? {})[0] ?? [];
  return media !== undefined && found ? { media, schema: found.schema, example: found.example } : undefined;
}

/** Follows a reference, and gives the name of what it leads to. */
export function resolved(schema: Schema, schemas: Schemas): { readonly schema: Schema; readonly name?: string } {
  const name = schema.$ref?.split("/").at(-1);
  const found = name === undefined ? undefined : schemas[name];
  return found && name !== undefined ? { schema: { ...found, ...without$ref(schema) }, name } : { schema };
}

function without$ref({ $ref: _, ...rest }: Schema): Schema {
  return rest;
}

/** A type in a few words: text, list of Item, "asc" or "desc". */
export function typeWords(given: Schema, schemas: Schemas): string {
  const { schema, name } = resolved(given, schemas);
  const { type, items, enum: choices } = schema;
  const options = optionsOf(schema);
  if (choices) return choices.map((one) => JSON.stringify(one)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (options.length > 0) return name ?? [...new Set(options.map((one) => typeWords(one, schemas)))].join(" | ");
  if (type === "array") return items ? `list of ${typeWords(items, schemas)}` : "list";
  if (type === "object") return name ?? "object";
  const types = [type ?? []].flat();
  return types.length === 0 ? (name ?? "any") : types.map((one) => WORDS[one] ?? one).join(" | ");
}

const WORDS: { readonly [type: string]: string } = {
  string: "text",
  integer: "whole number",
  boolean: "true or false",
};

export const optionsOf = ({ anyOf, oneOf }: Schema): readonly Schema[] => anyOf ?? oneOf ?? [];

/** The limits of a value, in words. */
export function limits(schema: Schema): string {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, format } = schema;
  return [
    range(minimum, maximum, ""),
    range(minLength === 1 && maxLength === undefined ? undefined : minLength, maxLength, " characters"),
    range(minItems, maxItems, " of them"),
    format ?? "",
    schema.default === undefined ? "" : `default: ${JSON.stringify(schema.default)}`,
  ]
    .filter((text) => text !== "")
    .join(", ");
}

function range(min: number | undefined, max: number | undefined, what: string): string {
  // JSON Schema says "a safe integer" for any whole number.
  const [from, to] = [min, max].map((one) => (one === undefined || Math.abs(one) >= 2 ** 53 - 1 ? undefined : one));
  if (from !== undefined && to !== undefined) return `${from} to ${to}${what}`;
  if (from !== undefined) return `at least ${from}${what}`;
  return to === undefined ? "" : `at most ${to}${what}`;
}
