/**
 * Converts a failed request to a HoldfastError. Of the client's error it keeps only the status and Qdrant's own
 * message: a server, or a proxy in front of it, may echo the request and with it the API key.
 */
import { HoldfastError } from "../../errors.js";

/** Statuses of requests that are invalid and would fail again. */
const REFUSALS: ReadonlySet<number> = new Set([400, 413, 422]);
const SAID_MAX = 200;

export interface Attempt {
  /** The attempted action, as in "Qdrant failed to ...". */
  readonly what: string;
  /** Whether the request contained changes that Qdrant may reject. */
  readonly isChange: boolean;
  readonly apiKey: string | undefined;
}

export function failureOf(error: unknown, { what, isChange, apiKey }: Attempt): HoldfastError {
  if (error instanceof HoldfastError) return error;
  const status = statusOf(error);
  const refused = isChange && status !== undefined && REFUSALS.has(status);
  const said = shortened(status === undefined ? reasonOf(error) : `status ${status}${saidBy(error)}`, apiKey);
  return new HoldfastError("index_failed", `Qdrant ${refused ? "refused" : "failed"} to ${what}: ${said}`, {
    hint: hintFor(status, refused),
    details: { ...(status !== undefined && { status }), ...(refused && { refused }) },
  });
}

/** The status of Qdrant's response, if there was one. */
export function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  if ("status" in error && typeof error.status === "number") return error.status;
  return "retry_after" in error ? 429 : undefined;
}

/** Qdrant's error shape is `{ status: { error } }`. Anything else comes from an intermediary and is not repeated. */
function saidBy(error: unknown): string {
  if (!(error instanceof Error) || !("data" in error)) return "";
  const { data } = error;
  if (typeof data !== "object" || data === null || !("status" in data)) return "";
  const { status } = data;
  if (typeof status !== "object" || status === null || !("error" in status)) return "";
  return typeof status.error === "string" ? `, ${status.error}` : "";
}

/** The network's reason is the cause of fetch's error, which itself says little. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "an unknown error";
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  return "code" in cause && typeof cause.code === "string" ? cause.code : cause.message;
}

function shortened(text: string, apiKey: string | undefined): string {
  const said = apiKey === undefined ? text : text.replaceAll(apiKey, "[API key]");
  return said.length <= SAID_MAX ? said : `${said.slice(0, SAID_MAX)}…`;
}

function hintFor(status: number | undefined, refused: boolean): string {
  if (refused) return "the change is kept and tried again later; what Qdrant says tells what is wrong with it";
  if (status === undefined) return "check that the server runs and that its URL is right; nothing is lost meanwhile";
  if (status === 401 || status === 403) return "check the API key and what it may do; nothing is lost meanwhile";
  if (status === 404) return "the collection is gone: detach the index and attach it again to refill it";
  return "see the log of the Qdrant server; nothing is lost meanwhile";
}
