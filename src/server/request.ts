/** Reads the parts of a request, within limits. */
import type { Context } from "hono";
import { HoldfastError } from "../errors.js";
import { parseIdentity } from "../input/identity.js";
import { parseJson } from "../input/json-text.js";
import { decodeUtf8 } from "../text.js";
import { type BodyLimits, readBody } from "./body.js";

const hint = "see /docs for what this route takes";
/** How errors refer to the parts of a request. */
export const PARTS = {
  path: { whole: "the path", hint },
  query: { whole: "the query string", hint },
  body: { whole: "the body", hint },
} as const;

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
