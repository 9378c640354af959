/** Call: one admitted request, with what its handler needs. */
import type { WriteOptions } from "../input/call.js";
import type { Memory } from "../memory.js";
import type { DataOf, Operation, Request } from "../schemas/operation.js";
import type { Session } from "../session.js";
import type { Scope, SpaceRef } from "../types.js";
import type { Caller } from "./caller.js";

/** A request in progress. It counts against its caller until it leaves. */
export interface Slot {
  /** Sets the number of body bytes held in memory. Throws `overloaded` or `rate_limited` if they are too many. */
  hold(bytes: number): void;
  /** Adds to the response bytes that the caller has not read yet. */
  answer(bytes: number): void;
  /** Turns the request into an open stream, which is counted separately until the returned function is called. */
  listen(): () => void;
  leave(): void;
}

export interface Call<T extends Operation = Operation> extends Request<T> {
  readonly memory: Memory;
  readonly caller: Caller;
  /** The request's slot among those in progress. */
  readonly slot: Slot;
  /** As given in the query string; empty if it names nothing. */
  readonly scope: Scope;
  /** The scope's session, with access to the spaces that the body names. The caller is checked for all of them. */
  readonly session: Session;
  readonly idempotencyKey: string | undefined;
}

export type Handler<T extends Operation> = (call: Call<T>) => Promise<DataOf<T>>;
export type Handlers<T extends { readonly [name: string]: Operation }> = { readonly [K in keyof T]: Handler<T[K]> };

/** The request's idempotency key as a write option. The writes of a batch get one key each, by their index. */
export function keyed(key: string | undefined, index?: number): WriteOptions {
  if (key === undefined) return {};
  return { idempotencyKey: index === undefined ? key : `${key}/${index}` };
}

/**
 * The spaces that a body names besides the scope's own: those it reads, or the one it copies to. (A new key may also cover
 * every space of a kind; only admins create keys.)
 */
export function spacesIn(body: unknown): readonly SpaceRef[] {
  if (typeof body !== "object" || body === null) return [];
  const { spaces, to, space } = body as { readonly [key: string]: unknown };
  const named = [...(Array.isArray(spaces) ? (spaces as unknown[]) : []), to, space];
  return named.filter((one): one is SpaceRef => typeof one === "object" && one !== null);
}

/** The actors that a body names: of an edit, of a promotion, of the edits in a turn. */
export function actorsIn(body: unknown): readonly string[] {
  if (typeof body !== "object" || body === null) return [];
  const { actor, writes } = body as { readonly actor?: unknown; readonly writes?: unknown };
  const inner = Array.isArray(writes) ? writes.map((write: { readonly actor?: unknown }) => write.actor) : [];
  return [actor, ...inner].filter((one): one is string => typeof one === "string");
}
