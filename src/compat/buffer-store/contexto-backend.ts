/** What a context engine needs from the system that stores episodes and searches them. */
import { HoldfastError } from "../../errors.js";
import { parseIdentity } from "../../input/identity.js";
import { invalid, wrongType } from "../../input/refusal.js";
import type { Json } from "../../types.js";
import type { BufferedEntry } from "./buffer-store.js";
import type { WebhookPayload } from "./webhook-payload.js";

/** `Message` is the form of the host's messages. They are kept as JSON. */
export interface ContextoBackend<Message extends object = JsonMessage> {
  /**
   * Stores episodes, oldest first. Must resolve when all of them are stored, and reject otherwise. An episode may be delivered
   * again, with the same `id`: after a rejection, and after a crash before its delivery was recorded.
   */
  ingest(episodes: readonly Episode<Message>[]): Promise<void>;
  /** Finds up to `maxResults` items, best first. */
  search(query: string, maxResults: number): Promise<readonly SearchItem[]>;
}

/** A message of the host, in any form that is JSON. */
export type JsonMessage = { readonly [key: string]: Json };

/** A turn as it is delivered to the backend. */
export type Episode<Message extends object = JsonMessage> = Omit<WebhookPayload, "id" | "data"> & {
  /** The same whenever the episode is delivered, so that a backend can deduplicate. */
  readonly id: string;
  /** The messages of the turn. */
  readonly data: { readonly messages: readonly Message[] };
};

/** What a backend found. */
export interface SearchItem {
  /** Identifies the item in this session's context: it is injected once. */
  readonly id: string;
  /** The text to inject. */
  readonly content: string;
}

/** An entry that no engine pushed has no id of its own. */
export function episodeOf<Message extends object>({ payload, sessionId, rowid, at }: BufferedEntry): Episode<Message> {
  const { messages } = (payload as Partial<WebhookPayload> | null)?.data ?? {};
  if (!Array.isArray(messages)) {
    throw invalid(
      `entry ${rowid}`,
      "of the buffer is no episode: it has no data.messages",
      "give it a buffer of its own",
    );
  }
  return { ...payload, id: payload.id ?? `${sessionId}/${rowid}/${at}`, data: { messages } };
}

export function parseBackend<Message extends object>(backend: unknown): ContextoBackend<Message> {
  const { ingest, search } = (backend ?? {}) as { readonly [key: string]: unknown };
  if (typeof ingest === "function" && typeof search === "function") return backend as ContextoBackend<Message>;
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
