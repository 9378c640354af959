/**
 * Operation: one thing that can be asked of a Holdfast server. The table of them (operations.ts) is the only list of
 * routes: the server answers them, the client calls them, the OpenAPI document describes them, and tests go through them
 * all, scope by scope.
 */
import type { z } from "zod";
import type { Access } from "../stores/keys.js";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Method and path under /api/v1, with parameters in braces: `GET /blocks/{name}`. */
export type Route = `${Method} /${string}`;

/**
 * Whose memory a request is about.
 * own: the scope in the query string must name a space, which the key must cover · optional: left out it means
 * everything, which is for admins · open: left out it means all that the key covers, and the handler keeps to that ·
 * none: it is about no memory, or path and body say which, and the handler checks each.
 */
export type ScopeUse = "own" | "optional" | "open" | "none";

export interface Operation {
  readonly route: Route;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** What the key must allow; `none`: no key is asked for. */
  readonly access: Access | "none";
  readonly scope: ScopeUse;
  readonly params?: z.ZodObject;
  /** The query string beside the scope. */
  readonly query?: z.ZodObject;
  /** True: the `name` in it may come unencoded, with `&` in it, as MemFuse's SDK sends it. */
  readonly rawName?: true;
  readonly body?: z.ZodType;
  /** What `data` of the answer holds. */
  readonly data: z.ZodType;
  readonly status: 200 | 201;
  /** What body and answer are, if not JSON in the envelope. */
  readonly media?: { readonly request?: string; readonly response?: string };
  /** True: takes `Idempotency-Key`; a retry with the same key and body adds nothing. */
  readonly idempotent?: true;
}

/** Keeps the types of the schemas. */
export const operation = <const T extends Operation>(one: T): T => one;

type Parsed<T> = T extends z.ZodType ? z.output<T> : undefined;

/** A request as its handler gets it. */
export interface Request<T extends Operation> {
  readonly params: Parsed<T["params"]>;
  readonly query: Parsed<T["query"]>;
  readonly body: Parsed<T["body"]>;
}
export type DataOf<T extends Operation> = Frozen<z.output<T["data"]>>;

/** As the engine gives it: nothing of it is to be changed. */
export type Frozen<T> = T extends readonly (infer One)[]
  ? readonly Frozen<One>[]
  : T extends object
    ? { readonly [K in keyof T]: Frozen<T[K]> }
    : T;

/** A route in its two parts. */
export function partsOf(route: Route): { readonly method: Method; readonly path: string } {
  const [method = "", path = ""] = route.split(" ");
  return { method: method as Method, path };
}
