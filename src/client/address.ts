/** The method and URL of an operation: parameters in the path, scope and the rest in the query string. */
import { HoldfastError } from "../errors.js";
import type { Method } from "../schemas/operation.js";
import { ROUTES } from "../schemas/routes.js";
import type { Scope } from "../types.js";

export type RouteName = keyof typeof ROUTES;

export type Values = { readonly [name: string]: string | number | undefined };

export interface Target {
  readonly scope?: Scope | undefined;
  readonly params?: Values;
  readonly query?: Values;
}

export interface Address {
  readonly method: Method;
  /** Relative to the root of the API. */
  readonly path: string;
}

export function addressOf(name: RouteName, target: Target): Address {
  return addressOn(ROUTES[name].route, target);
}

/** As `addressOf`, for any route, such as `GET /events`. */
function addressOn(route: string, { scope, params = {}, query = {} }: Target): Address {
  const [method, path = ""] = route.split(" ");
  const filled = path.replace(/\{(\w+)\}/g, (_, key: string) => segment(String(params[key] ?? "")));
  const asked = new URLSearchParams();
  for (const [key, value] of Object.entries({ ...scope, ...query })) {
    if (value !== undefined) asked.append(key, String(value));
  }
  const tail = asked.toString();
  return { method: method as Method, path: tail === "" ? filled : `${filled}?${tail}` };
}

/** Requires a valid, non-empty text. "." and ".." have a special meaning in URLs, however they are encoded. */
function segment(text: string): string {
  if (text !== "." && text !== "..") return encodeURIComponent(text);
  throw new HoldfastError("unsupported", `the name ${JSON.stringify(text)} cannot be used in a URL`, {
    hint: "rename it in a process that opens the memory's file",
  });
}
