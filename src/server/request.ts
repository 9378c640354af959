/** What a request says, read within limits and checked by the operation's schemas. */
import type { Context } from "hono";
import type { z } from "zod";
import { HoldfastError } from "../errors.js";
import { IDS_MAX } from "../input/limits.js";
import type { FieldError } from "./answer.js";

/**
 * A schema looks at every element and tells of each that is wrong: a small body of millions of them would hold up everyone,
 * and be answered by a large one.
 */
const PARTS_MAX = IDS_MAX + 10_000;
/** No text that is shorter has so many. */
const PARTS_UNITS_MIN = 2 * PARTS_MAX;
/** What is wrong, of which so much is told. */
const FIELDS_MAX = 20;
const MESSAGE_UNITS_MAX = 300;

/** The body as JSON; undefined if there is none. `too_large` beyond the limit, before it is read whole. */
export async function readJson(c: Context, maxBytes: number): Promise<unknown> {
  const text = await readText(c, maxBytes);
  if (text === "") return undefined;
  const value = parsed(text);
  if (text.length > PARTS_UNITS_MIN && isTooMany(value)) throw tooMany();
  return value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new HoldfastError("invalid_input", "the body is not valid JSON", {
      hint: "send one JSON object, as UTF-8",
      details: { fields: [{ field: "body", message: "is not valid JSON" }] },
    });
  }
}

export const idempotencyKeyOf = (c: Context): string | undefined => headerText(c, "Idempotency-Key");

/**
 * A header carries visible ASCII; other text comes as RFC 8187 writes it: UTF-8''%E2%82%AC. Anything else is refused: nobody
 * could tell whose bytes they are, and a name would become another one.
 */
export function headerText(c: Context, name: string): string | undefined {
  const given = c.req.header(name);
  if (given === undefined || /^(?!UTF-8'')[\x20-\x7e]*$/i.test(given)) return given;
  const text = decoded(/^UTF-8''(.*)$/i.exec(given)?.[1]);
  if (text !== undefined) return text;
  throw new HoldfastError("invalid_input", `the ${name} is not well encoded`, {
    hint: "send visible ASCII, or UTF-8'' and the text percent-encoded",
    details: { fields: [{ field: name, message: "is not well encoded" }] },
  });
}

function decoded(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text);
  } catch {
    return undefined; // half an escape
  }
}

async function readText(c: Context, maxBytes: number): Promise<string> {
  const length = c.req.header("content-length");
  if (length !== undefined) {
    if (Number(length) > maxBytes) throw bodyTooLarge(maxBytes);
    return c.req.text();
  }
  const body = c.req.raw.body;
  if (!body) return "";
  const decoder = new TextDecoder();
  let bytes = 0;
  let text = "";
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw bodyTooLarge(maxBytes);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

const bodyTooLarge = (maxBytes: number): HoldfastError =>
  new HoldfastError("too_large", `the body is larger than ${maxBytes} bytes`, {
    hint: "send it in several requests, or as an import, which is a stream",
    details: { maxBytes },
  });

const tooMany = (): HoldfastError =>
  new HoldfastError("too_large", `the body has more than ${PARTS_MAX} elements`, {
    hint: "send it in several requests",
    details: { maxElements: PARTS_MAX },
  });

/** Whether lists and objects hold more than `PARTS_MAX` elements, all together. */
function isTooMany(value: unknown): boolean {
  let count = 0;
  const open = [value];
  while (open.length > 0) {
    const one = open.pop();
    if (typeof one !== "object" || one === null) continue;
    const inner: readonly unknown[] = Array.isArray(one) ? one : Object.values(one);
    count += inner.length;
    if (count > PARTS_MAX) return true;
    for (const each of inner) if (typeof each === "object") open.push(each);
  }
  return false;
}

/** The value as its schema sees it. `invalid_input` names the fields that are wrong, the first of them. */
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

/** An issue in words. Of a union, the branch that came nearest is told. */
function fieldErrors(issue: Issue, where: string): FieldError[] {
  const field = pathOf(where, issue.path);
  if (issue.code !== "invalid_union") return [{ field, message: sentence(issue) }];
  const [nearest] = issue.errors
    .filter((branch) => !branch.every(({ code, path }) => code === "invalid_type" && path.length === 0))
    .toSorted((one, other) => one.length - other.length);
  if (!nearest) return [{ field, message: "is not of a form that is known here" }];
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
