/** Generates the OpenAPI 3.1 document from the table of operations: the server documents exactly what it checks. */
import { z } from "zod";
import { EnvelopeErrorSchema, successOf } from "../schemas/envelope.js";
import type { AnyExample } from "../schemas/example.js";
import { type Operation, partsOf } from "../schemas/operation.js";
import { ScopeSchema } from "../schemas/scope.js";
import { type CodeSample, codeSamplesOf, scopeOf } from "./code-samples.js";

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
  readonly requestBody?: { readonly content: Content };
  readonly responses: { readonly [status: string]: { readonly description: string; readonly content: Content } };
  /** The key's access that it needs. */
  readonly "x-access": string;
  readonly "x-codeSamples": readonly CodeSample[];
}

interface Content {
  readonly [media: string]: { readonly schema: Json; readonly example?: unknown };
}

export interface Parameter extends Json {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Json;
  readonly example?: unknown;
}

const JSON_MEDIA = "application/json";

const IDEMPOTENCY: Parameter = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: "A retry with the same key and body writes nothing and returns the first answer, for 7 days of use.",
  schema: { type: "string", minLength: 1, maxLength: 512 },
};

/** What is described. */
export interface Described {
  readonly operations: { readonly [name: string]: Operation };
  /** One of each operation. */
  readonly examples: { readonly [name: string]: AnyExample };
  readonly prefix: string;
  readonly version: string;
}

export function openApiOf({ operations, examples, prefix, version }: Described): OpenApi {
  const schemas: { [name: string]: Json } = {};
  const paths: { [path: string]: { [method: string]: OpenApiOperation } } = {};
  const describe = (schema: z.ZodType, io: "input" | "output"): Json => hoisted(schema, io, schemas);
  for (const [name, operation] of Object.entries(operations)) {
    const { method, path } = partsOf(operation.route);
    const example = examples[name] ?? { data: null };
    const samples = codeSamplesOf(prefix, operation, example);
    const operationHere = { [method.toLowerCase()]: operationOf(name, operation, { example, samples, describe }) };
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

interface With {
  readonly example: AnyExample;
  readonly samples: readonly CodeSample[];
  readonly describe: Describe;
}

function operationOf(name: string, operation: Operation, { example, samples, describe }: With): OpenApiOperation {
  const { tag, summary, description, access, media, body } = operation;
  const request = media?.request;
  const needs = access === "none" ? "Needs no key." : `Needs a key with ${access} access, if the server requires keys.`;
  return {
    operationId: name,
    tags: [tag],
    summary,
    description: description === undefined ? needs : `${description} ${needs}`,
    "x-access": access,
    "x-codeSamples": samples,
    parameters: parametersOf(operation, example, describe),
    ...(body && {
      requestBody: { content: { [JSON_MEDIA]: { schema: describe(body, "input"), example: example.body } } },
    }),
    ...(request !== undefined && {
      requestBody: { content: { [request]: { schema: { type: "string" }, example: example.body } } },
    }),
    responses: responsesOf(operation, example.data, describe),
  };
}

function responsesOf(
  { status, data, media }: Operation,
  example: unknown,
  describe: Describe,
): OpenApiOperation["responses"] {
  const envelope = { status: "success", code: status, data: example, message: "OK", errors: null };
  const success: Content =
    media?.response === undefined
      ? { [JSON_MEDIA]: { schema: describe(successOf(data), "output"), example: envelope } }
      : { [media.response]: { schema: { type: "string" }, example } };
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

function parametersOf(operation: Operation, example: AnyExample, describe: Describe): readonly Parameter[] {
  const { scope, params, query, retry } = operation;
  const values: { readonly [name: string]: unknown } = { ...scopeOf(operation, example), ...example.query };
  return [
    ...withExamples(fieldsOf(params, "path", describe), example.params ?? {}),
    ...withExamples(scope === "none" ? [] : fieldsOf(ScopeSchema, "query", describe), values),
    ...withExamples(fieldsOf(query, "query", describe), values),
    ...(retry === "key" ? [IDEMPOTENCY] : []),
  ];
}

const withExamples = (
  parameters: readonly Parameter[],
  values: { readonly [name: string]: unknown },
): readonly Parameter[] =>
  parameters.map((one) => (values[one.name] === undefined ? one : { ...one, example: values[one.name] }));

function fieldsOf(schema: z.ZodObject | undefined, place: "path" | "query", describe: Describe): readonly Parameter[] {
  if (!schema) return [];
  const { required = [] } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
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
