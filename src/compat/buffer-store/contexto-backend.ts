/** What a context engine needs from the system that stores episodes and searches them. */
import { HoldfastError } from "../../errors.js";
import { parseIdentity } from "../../input/identity.js";
import { wrongType } from "../../input/refusal.js";
import type { BufferedEntry } from "./buffer-store.js";
import type { WebhookPayload } from "./webhook-payload.js";

export interface ContextoBackend {
  /**
   * Stores episodes, oldest first. Must resolve when all of them are stored, and reject otherwise. An episode may be delivered
   * again, with the same `id`: after a rejection, and after a crash before its delivery was recorded.
   */
  ingest(episodes: readonly Episode[]): Promise<void>;
  /** Finds up to `maxResults` items, best first. */
  search(query: string, maxResults: number): Promise<readonly SearchItem[]>;
}

export type Episode = WebhookPayload & { readonly id: string };

export interface SearchItem {
  /** Identifies the item in this session's context: it is injected once. */
  readonly id: string;
  readonly content: string;
}

/** An entry that no engine pushed has no id of its own. */
export function episodeOf({ payload, sessionId, rowid, at }: BufferedEntry): Episode {
  return { ...payload, id: payload.id ?? `${sessionId}/${rowid}/${at}` };
}

export function parseBackend(backend: unknown): ContextoBackend {
  const { ingest, search } = (backend ?? {}) as { readonly [key: string]: unknown };
  if (typeof ingest === "function" && typeof search === "function") return backend as ContextoBackend;
  throw wrongType("options.backend", "an object with ingest() and search()", backend);
}

/** Requires what a search resolved with, which other code may have made. */
export function parseFound(found: unknown): readonly SearchItem[] {
  if (!Array.isArray(found)) throw wrongType("found", "a list", found);
  return found.map((item: unknown, at) => {
    const { id, content } = (item ?? {}) as { readonly [key: string]: unknown };
    if (typeof content !== "string") throw wrongType(`found[${at}].content`, "a string", content);
    return { id: parseIdentity(id, `found[${at}].id`), content };
  });
}

export function backendFailed(what: "ingest" | "search", cause: unknown, hint: string): HoldfastError {
  const said = cause instanceof Error ? cause.message : String(cause);
  return new HoldfastError("backend_failed", `the backend's ${what} failed: ${said}`, { cause, hint });
}
