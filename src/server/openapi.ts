/** Generates the OpenAPI 3.1 document from the table of operations: the server documents exactly what it checks. */
import { z } from "zod";
import { EnvelopeErrorSchema, successOf } from "../schemas/envelope.js";
import { type Operation, partsOf } from "../schemas/operation.js";
import { ScopeSchema } from "../schemas/scope.js";

type Json = { [key: string]: unknown };

export interface OpenApi extends Json {
  readonly openapi: string;
  readonly paths: { readonly [path: string]: { readonly [method: string]: OpenApiOperation } };
  readonly components: { readonly schemas: { readonly [name: string]: Json }; readonly [kind: string]: unknown };
}

export interface OpenApiOperation extends Json {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: { readonly [media: string]: { readonly schema: Json } } };
  readonly responses: { readonly [status: string]: Json };
}

export interface Parameter extends Json {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Json;
}

const JSON_MEDIA = "application/json";

const IDEMPOTENCY: Parameter = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: "A retry with the same key and body writes nothing and returns the first answer, for 7 days of use.",
  schema: { type: "string", minLength: 1, maxLength: 512 },
};

export function openApiOf(
  operations: { readonly [name: string]: Operation },
  prefix: string,
  version: string,
): OpenApi {
  const schemas: { [name: string]: Json } = {};
  const paths: { [path: string]: { [method: string]: OpenApiOperation } } = {};
  const describe = (schema: z.ZodType, io: "input" | "output"): Json => hoisted(schema, io, schemas);
  for (const [name, operation] of Object.entries(operations)) {
    const { method, path } = partsOf(operation.route);
    const operationHere = { [method.toLowerCase()]: operationOf(name, operation, describe) };
    paths[prefix + path] = { ...paths[prefix + path], ...operationHere };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Holdfast",
      version,
      description: "Memory for AI agents. Set the scope in the query string: ?user=ada&session=first.",
      license: { name: "MIT", identifier: "MIT" },
    },
    security: [{}, { key: [] }],
    paths,
    components: {
      schemas,
      securitySchemes: { key: { type: "http", scheme: "bearer", description: "An API key: hf_…" } },
    },
  };
}

type Describe = (schema: z.ZodType, io: "input" | "output") => Json;

function operationOf(name: string, operation: Operation, describe: Describe): OpenApiOperation {
  const { tag, summary, description, access, media, body } = operation;
  const request = media?.request;
  const needs = access === "none" ? "Needs no key." : `Needs a key with ${access} access, if the server requires keys.`;
  return {
    operationId: name,
    tags: [tag],
    summary,
    description: description === undefined ? needs : `${description} ${needs}`,
    parameters: parametersOf(operation, describe),
    ...(body && { requestBody: { content: { [JSON_MEDIA]: { schema: describe(body, "input") } } } }),
    ...(request !== undefined && { requestBody: { content: { [request]: { schema: { type: "string" } } } } }),
    responses: responsesOf(operation, describe),
  };
}

function responsesOf({ status, data, media }: Operation, describe: Describe): { [status: string]: Json } {
  const success =
    media?.response === undefined
      ? { [JSON_MEDIA]: { schema: describe(successOf(data), "output") } }
      : { [media.response]: { schema: { type: "string" } } };
  return {
    ...(tellsRetry(data) && { "200": { description: "A retry: nothing new was written.", content: success } }),
    [status]: { description: status === 201 ? "Written, durable and searchable." : "OK", content: success },
    default: {
      description: "What went wrong, and what to do next.",
      content: { [JSON_MEDIA]: { schema: describe(EnvelopeErrorSchema, "output") } },
    },
  };
}

/** Whether the answer has `repeated`: a retry then has status 200 instead of 201. */
function tellsRetry(data: z.ZodType): boolean {
  const one = data instanceof z.ZodArray ? data.element : data;
  return one instanceof z.ZodObject && "repeated" in one.shape;
}

function parametersOf({ scope, params, query, retry }: Operation, describe: Describe): readonly Parameter[] {
  return [
    ...fieldsOf(params, "path", describe),
    ...(scope === "none" ? [] : fieldsOf(ScopeSchema, "query", describe)),
    ...fieldsOf(query, "query", describe),
    ...(retry === "key" ? [IDEMPOTENCY] : []),
  ];
}

function fieldsOf(schema: z.ZodObject | undefined, place: "path" | "query", describe: Describe): readonly Parameter[] {
  if (!schema) return [];
  const { required = [] } = z.toJSONSchema(schema, { io: "output", unrepresentable: "any" });
  return Object.entries(schema.shape).map(([name, field]) => {
    const { description, ...rest } = describe(field as z.ZodType, "output") as { description?: string };
    return {
      name,
      in: place,
      required: required.includes(name),
      ...(description !== undefined && { description }),
      schema: rest,
    };
  });
}

/** The schema as JSON Schema, with its named parts moved to the components. */
function hoisted(schema: z.ZodType, io: "input" | "output", schemas: { [name: string]: Json }): Json {
  const { $schema: _, $defs, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any" }) as Json;
  for (const [name, definition] of Object.entries(($defs ?? {}) as { [name: string]: Json })) {
    schemas[name] ??= referring(definition) as Json;
  }
  return referring(rest) as Json;
}

function referring(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(referring);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) =>
      key === "$ref" ? [key, String(inner).replace("#/$defs/", "#/components/schemas/")] : [key, referring(inner)],
    ),
  );
}
