/** Call: one request that has passed the door, with what its handler needs. */
import type { Memory } from "../memory.js";
import type { DataOf, Operation, Request } from "../schemas/operation.js";
import type { Session } from "../session.js";
import type { Scope, SpaceRef } from "../types.js";
import type { Caller } from "./caller.js";

export interface Call<T extends Operation = Operation> extends Request<T> {
  readonly memory: Memory;
  readonly caller: Caller;
  /** As the query string names it; empty if it names nothing. */
  readonly scope: Scope;
  /** The scope's session, with the spaces that the body names granted to it; the caller was checked for all of them. */
  readonly session: Session;
  readonly idempotencyKey: string | undefined;
}

export type Handler<T extends Operation> = (call: Call<T>) => Promise<DataOf<T>>;
export type Handlers<T extends { readonly [name: string]: Operation }> = { readonly [K in keyof T]: Handler<T[K]> };

/**
 * The spaces that a body names beside the scope's own: what it reads, or where it copies to. (A new key may also be for all
 * of a kind; who makes keys is an admin.)
 */
export function spacesIn(body: unknown): readonly SpaceRef[] {
  if (typeof body !== "object" || body === null) return [];
  const { spaces, to, space } = body as { readonly [key: string]: unknown };
  const named = [...(Array.isArray(spaces) ? (spaces as unknown[]) : []), to, space];
  return named.filter((one): one is SpaceRef => typeof one === "object" && one !== null);
}

/** Who a body says has done it: an edit, a promotion, the edits of a turn. */
export function actorsIn(body: unknown): readonly string[] {
  if (typeof body !== "object" || body === null) return [];
  const { actor, writes } = body as { readonly actor?: unknown; readonly writes?: unknown };
  const inner = Array.isArray(writes) ? writes.map((write: { readonly actor?: unknown }) => write.actor) : [];
  return [actor, ...inner].filter((one): one is string => typeof one === "string");
}
