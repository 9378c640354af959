/**
 * Validates requests and tool calls against their schemas. Errors say what the library would say, with the same
 * suggestions (input/refusal.ts).
 */
import type { z } from "zod";
import { HoldfastError } from "../errors.js";
import { choiceTold, typeOf, unknownKeyTold } from "../input/refusal.js";

/** One wrong field, in `details.fields` of an `invalid_input` error. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

export interface Validated {
  /** What the value is called in errors: "the body". */
  readonly whole: string;
  /** The hint, unless the error has one of its own. */
  readonly hint: string;
  /** How a field begins the message. By default as it is. */
  readonly show?: (field: string) => string;
  /** Keys that the caller has taken out of the value before. */
  readonly otherKeys?: readonly string[];
}

type Issue = z.core.$ZodIssue;
type Schema = z.core.$ZodType;

/** A field that is wrong. */
interface Fault extends FieldError {
  readonly hint?: string;
}

/** Limits on how much of a validation error is reported. */
const FIELDS_MAX = 20;
const MESSAGE_UNITS_MAX = 300;

/** The value as parsed by the schema. Throws `invalid_input`, which names the first fields that are wrong. */
export function parseWith<T extends z.ZodType>(schema: T, value: unknown, validated: Validated): z.output<T> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues.slice(0, FIELDS_MAX);
  // A missing key is often one that was mistyped.
  const inOrder = issues.toSorted((one, other) => Number(isUnknownKey(other)) - Number(isUnknownKey(one)));
  const faults = inOrder.flatMap((issue) => faultsOf(issue, { schema, value, path: [] }, validated));
  const [first] = faults;
  const fields = faults.slice(0, FIELDS_MAX).map(({ field, message }) => ({ field, message }));
  const { whole, hint, show = (field) => field } = validated;
  const message = `${first?.field ? show(first.field) : whole} ${first?.message ?? "is not valid"}`;
  throw new HoldfastError("invalid_input", message, { hint: first?.hint ?? hint, details: { fields } });
}

const isUnknownKey = ({ code }: Issue): boolean => code === "unrecognized_keys";

/** Where an issue's path begins. */
interface Root {
  readonly schema: Schema;
  readonly value: unknown;
  readonly path: readonly PropertyKey[];
}

function faultsOf(issue: Issue, root: Root, validated: Validated): readonly Fault[] {
  const path = [...root.path, ...issue.path];
  const field = nameOf(path);
  const value = valueAt(root.value, issue.path);
  switch (issue.code) {
    case "unrecognized_keys": {
      const others = path.length === 0 ? (validated.otherKeys ?? []) : [];
      const known = new Set([...keysOf(schemaAt(root.schema, issue.path)), ...others]);
      return issue.keys.slice(0, FIELDS_MAX).map((key) => {
        const { problem, hint } = unknownKeyTold(key, known);
        return { field, message: problem, hint };
      });
    }
    case "invalid_type":
      return [{ field, message: `must be ${EXPECTED[issue.expected] ?? `a ${issue.expected}`}, got ${typeOf(value)}` }];
    case "invalid_value":
      return [{ field, message: choiceTold(value, issue.values.map(String)) }];
    case "invalid_union":
      return nearestBranch(issue, { schema: schemaAt(root.schema, issue.path), value, path }, validated);
    default:
      return [{ field, message: sentence(issue) }];
  }
}

/** The faults of the union's branch that has the fewest. */
function nearestBranch(issue: z.core.$ZodIssueInvalidUnion, root: Root, validated: Validated): readonly Fault[] {
  const branches = issue.errors.map((errors, at) => ({ errors, schema: partsOf(root.schema)[at] }));
  const [nearest] = branches
    .filter(({ errors }) => !errors.every(({ code, path }) => code === "invalid_type" && path.length === 0))
    .toSorted((one, other) => one.errors.length - other.errors.length);
  if (!nearest) return [{ field: nameOf(root.path), message: "matches none of the accepted forms" }];
  const schema = nearest.schema ?? root.schema;
  return nearest.errors.flatMap((inner) => faultsOf(inner, { ...root, schema }, validated));
}

const EXPECTED: { readonly [type: string]: string } = {
  array: "a list",
  object: "an object",
  record: "an object",
  int: "an integer",
  boolean: "true or false",
};

const sentence = ({ message }: Issue): string =>
  `is not valid: ${message.charAt(0).toLowerCase()}${message.slice(1, MESSAGE_UNITS_MAX)}`;

function nameOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    return text === "" ? String(step) : `${text}.${String(step)}`;
  }, "");
}

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (at, step) => (at as { readonly [key: PropertyKey]: unknown } | null | undefined)?.[step],
    value,
  );

// Schemas, as far as they are used here.

type Def = { readonly [key: string]: unknown };
const defOf = (schema: Schema): Def => schema._zod.def as unknown as Def;

/** The schema inside the wrappers: optional, nullable, default, transformed. */
function bare(schema: Schema): Schema {
  const { innerType, in: input } = defOf(schema) as { readonly innerType?: Schema; readonly in?: Schema };
  const inner = innerType ?? input;
  return inner ? bare(inner) : schema;
}

/** The schema of a value in a value; the outer one if it cannot be told. */
function schemaAt(schema: Schema, path: readonly PropertyKey[]): Schema {
  const [step, ...rest] = path;
  const at = bare(schema);
  if (step === undefined) return at;
  const { shape, element } = defOf(at) as {
    readonly shape?: { readonly [key: PropertyKey]: Schema };
    readonly element?: Schema;
  };
  const next = typeof step === "number" ? element : shape?.[step];
  return next ? schemaAt(next, rest) : at;
}

/** The branches of a union. */
const partsOf = (schema: Schema): readonly Schema[] =>
  ((defOf(bare(schema))["options"] as readonly Schema[] | undefined) ?? []).map(bare);

/** The keys of an object, or those of all objects of a union. */
function keysOf(schema: Schema): readonly string[] {
  const { shape } = defOf(schema) as { readonly shape?: object };
  return shape ? Object.keys(shape) : partsOf(schema).flatMap(keysOf);
}
