/** Reads a request within limits and validates it against the operation's schemas. */
import type { Context } from "hono";
import type { z } from "zod";
import { HoldfastError } from "../errors.js";
import { parseIdentity } from "../input/identity.js";
import { parseJson } from "../input/json-text.js";
import { decodeUtf8 } from "../text.js";
import type { FieldError } from "./answer.js";
import { type BodyLimits, readBody } from "./body.js";

/** Limits on how much of a validation error is reported. */
const FIELDS_MAX = 20;
const MESSAGE_UNITS_MAX = 300;

/** The body as JSON; undefined if it is empty. Rejects as `readBody` and `parseJson` do. */
export async function readJson(c: Context, limits: BodyLimits): Promise<unknown> {
  const bytes = await readBody(c, limits);
  if (bytes.byteLength === 0) return undefined;
  return parseJson(decodeUtf8(bytes, "the body", IN_BODY), "the body", IN_BODY);
}

const IN_BODY = { field: "body" };

/**
 * Refuses a URL whose percent-encoding is not UTF-8: decoding it would have to guess, and two names could become one. (Node
 * already refuses raw bytes beyond ASCII.)
 */
export function checkTarget(c: Context): void {
  if (decoded(c.req.url) !== undefined) return;
  throw new HoldfastError("invalid_input", "the URL is not valid percent-encoded UTF-8", {
    hint: "percent-encode names as UTF-8: é is %C3%A9, and % itself is %25",
  });
}

export function idempotencyKeyOf(c: Context): string | undefined {
  const key = headerText(c, "Idempotency-Key");
  return key === undefined ? undefined : parseIdentity(key, "Idempotency-Key");
}

/**
 * A header carries visible ASCII, or other text as RFC 8187 encodes it: UTF-8''%E2%82%AC. Anything else is refused: its
 * encoding is unknown, and one name could become another.
 */
export function headerText(c: Context, name: string): string | undefined {
  const given = c.req.header(name);
  if (given === undefined || /^(?!UTF-8'')[\x20-\x7e]*$/i.test(given)) return given;
  const text = decoded(/^UTF-8''([\x20-\x7e]*)$/i.exec(given)?.[1]);
  if (text !== undefined) return text;
  throw new HoldfastError("invalid_input", `the ${name} header is not well encoded`, {
    hint: "send visible ASCII, or UTF-8'' and the text percent-encoded",
    details: { fields: [{ field: name, message: "is not well encoded" }] },
  });
}

function decoded(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text);
  } catch {
    return undefined; // a truncated escape, or bytes that are not UTF-8
  }
}

/** The value as parsed by the schema. Throws `invalid_input`, which names the first fields that are wrong. */
export function parseWith<T extends z.ZodType>(schema: T, value: unknown, where: string): z.output<T> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues.slice(0, FIELDS_MAX);
  const fields = issues.flatMap((issue) => fieldErrors(issue, where)).slice(0, FIELDS_MAX);
  const [first] = fields;
  throw new HoldfastError("invalid_input", `${first?.field ?? where} ${first?.message ?? "is not valid"}`, {
    hint: "see /docs for what this route takes",
    details: { fields },
  });
}

type Issue = z.core.$ZodIssue;

/** Describes an issue. For a union, the branch with the fewest errors is reported. */
function fieldErrors(issue: Issue, where: string): FieldError[] {
  const field = pathOf(where, issue.path);
  if (issue.code !== "invalid_union") return [{ field, message: sentence(issue) }];
  const [nearest] = issue.errors
    .filter((branch) => !branch.every(({ code, path }) => code === "invalid_type" && path.length === 0))
    .toSorted((one, other) => one.length - other.length);
  if (!nearest) return [{ field, message: "matches none of the accepted forms" }];
  return nearest.flatMap((inner) => fieldErrors(inner, field));
}

const sentence = ({ message }: Issue): string =>
  `is not valid: ${message.charAt(0).toLowerCase()}${message.slice(1, MESSAGE_UNITS_MAX)}`;

function pathOf(where: string, path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    return text === "" ? String(step) : `${text}.${String(step)}`;
  }, where);
}
