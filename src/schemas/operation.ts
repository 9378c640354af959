/**
 * Operation: one operation of a Holdfast server. The table of operations (operations.ts) is the only list of routes: the
 * server serves it, the client calls it, the OpenAPI document describes it, and tests cover it, for every kind of scope.
 */
import type { z } from "zod";
import type { Access } from "../stores/keys.js";
import type { Retry } from "./routes.js";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Method and path under /api/v1, with parameters in braces: `GET /blocks/{name}`. */
export type Route = `${Method} /${string}`;

/**
 * How an operation uses the scope.
 * own: the query string must name a space, which the key must cover · optional: without a scope it means everything, which
 * is for admins · open: without a scope it means all that the key covers, and the handler enforces that · none: no scope;
 * path and body name the spaces, if any, and the handler checks each.
 */
export type ScopeUse = "own" | "optional" | "open" | "none";

export interface Operation {
  readonly route: Route;
  readonly retry: Retry;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** The access that the key must have; `none`: no key needed. */
  readonly access: Access | "none";
  readonly scope: ScopeUse;
  readonly params?: z.ZodObject;
  /** The query parameters besides the scope. */
  readonly query?: z.ZodObject;
  /** True if the `name` parameter may come unencoded, with `&` in it, as MemFuse's SDK sends it. */
  readonly rawName?: true;
  readonly body?: z.ZodType;
  /** The `data` of the response. */
  readonly data: z.ZodType;
  readonly status: 200 | 201;
  /** Media types of body and response, if they are not JSON in the envelope. */
  readonly media?: { readonly request?: string; readonly response?: string };
}

/** Preserves the literal types of the schemas. */
export const operation = <const T extends Operation>(one: T): T => one;

type Parsed<T> = T extends z.ZodType ? z.output<T> : undefined;

/** A request as its handler receives it. */
export interface Request<T extends Operation> {
  readonly params: Parsed<T["params"]>;
  readonly query: Parsed<T["query"]>;
  readonly body: Parsed<T["body"]>;
}
export type DataOf<T extends Operation> = Frozen<z.output<T["data"]>>;

/** Deeply read-only, as the engine returns it. */
export type Frozen<T> = T extends readonly (infer One)[]
  ? readonly Frozen<One>[]
  : T extends object
    ? { readonly [K in keyof T]: Frozen<T[K]> }
    : T;

/** Splits a route into method and path. */
export function partsOf(route: Route): { readonly method: Method; readonly path: string } {
  const [method = "", path = ""] = route.split(" ");
  return { method: method as Method, path };
}
