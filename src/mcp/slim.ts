/**
 * Shortens JSON schemas. Clients put them all into the model's context, so everything without information is removed: the
 * dialect, bounds that hold for every integer, and what follows from the rest.
 */
import type { z } from "zod";

type Json = { readonly [key: string]: unknown };

/** Validates like the schema, with a shorter description. */
export function slim<T extends z.ZodObject>(schema: T): T {
  const standard = schema["~standard"];
  const { jsonSchema } = standard;
  const slimmed = {
    ...standard,
    jsonSchema: {
      input: (options: Parameters<typeof jsonSchema.input>[0]) =>
        without(jsonSchema.input(options), SAID_ANYWAY) as Json,
      output: (options: Parameters<typeof jsonSchema.output>[0]) =>
        without(jsonSchema.output(options), { ...SAID_ANYWAY, ...SAID_OF_ANSWERS }) as Json,
    },
  };
  return Object.create(schema, { "~standard": { value: slimmed } }) as T;
}

/** The schema as a description that accepts anything, for input that is validated later, with better errors. */
export function unchecked<T extends z.ZodObject>(schema: T): T {
  const standard = { ...schema["~standard"], validate: (value: unknown) => ({ value }) };
  return Object.create(schema, { "~standard": { value: standard } }) as T;
}

type Needless = { readonly [key: string]: (value: unknown) => boolean };

const SAID_ANYWAY: Needless = {
  $schema: () => true,
  minimum: (value) => value === Number.MIN_SAFE_INTEGER,
  maximum: (value) => value === Number.MAX_SAFE_INTEGER,
  propertyNames: () => true,
};
/** Informative for inputs, where unknown fields are refused, but not for outputs. */
const SAID_OF_ANSWERS: Needless = { additionalProperties: (value) => value === false };

function without(value: unknown, needless: Needless): unknown {
  if (Array.isArray(value)) return value.map((one) => without(one, needless));
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([key, one]) => !needless[key]?.(one));
  return Object.fromEntries(kept.map(([key, one]) => [key, without(one, needless)]));
}
