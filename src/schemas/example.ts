/**
 * Example: what an operation is sent and what it answers, for the OpenAPI document and the API page. The examples belong
 * together: they are about one user, and one names what another has made. A test sends each of them.
 */
import type { z } from "zod";
import type { Scope } from "../types.js";
import type { DataOf, Frozen, Operation } from "./operation.js";

type Sent<T> = T extends z.ZodType ? Frozen<z.input<T>> : never;
type Streams<T extends Operation, Way extends "request" | "response"> = T["media"] extends {
  readonly [K in Way]: string;
}
  ? true
  : false;

/** The example of one operation. */
export type Example<T extends Operation = Operation> = {
  /** The scope in the query string. Default: `EXAMPLE_SCOPE`, if the operation needs one. */
  readonly scope?: Scope;
  readonly query?: { readonly [name: string]: string };
  /**
   * The call in TypeScript: `$name` stands for that parameter, or that field of the body; `$rest` for its other fields,
   * `$body` for all of them, `$lines` for the lines of a text, `$scope` for the scope.
   */
  readonly call?: string;
  /** The data of the response; its text if it is no JSON. */
  readonly data: Streams<T, "response"> extends true ? string : DataOf<T>;
} & (T["params"] extends z.ZodType ? { readonly params: { readonly [name: string]: string } } : unknown) &
  (T["body"] extends z.ZodType ? { readonly body: Sent<T["body"]> } : unknown) &
  (Streams<T, "request"> extends true ? { readonly body: string } : unknown);

export type Examples<T extends { readonly [name: string]: Operation }> = { readonly [K in keyof T]: Example<T[K]> };

/** An example of any operation. */
export interface AnyExample {
  readonly scope?: Scope;
  readonly params?: { readonly [name: string]: string };
  readonly query?: { readonly [name: string]: string };
  readonly body?: unknown;
  readonly call?: string;
  readonly data: unknown;
}

export const EXAMPLE_SCOPE: Scope = { user: "ada", session: "monday" };
