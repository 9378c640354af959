/** The state of a view is its URL: scope and options are query parameters, so that a link shows the same view again. */
import type { Scope, SpaceRef } from "holdfast/client";
import { useCallback, useMemo } from "preact/hooks";
import { useLocation } from "preact-iso";

export type Params = { readonly [name: string]: string | undefined };

export interface Place {
  readonly path: string;
  readonly params: Params;
  /** Changes parameters; undefined or "" removes one. A change replaces the entry in the history unless `push` is set. */
  change(params: Params, how?: { readonly push?: boolean }): void;
}

export function usePlace(): Place {
  const { path, query, route } = useLocation();
  const change = useCallback(
    (params: Params, { push = false }: { readonly push?: boolean } = {}) => {
      const next = hrefTo(location.pathname, {
        ...Object.fromEntries(new URLSearchParams(location.search)),
        ...params,
      });
      if (next !== location.pathname + location.search) route(next, !push);
    },
    [route],
  );
  return useMemo(() => ({ path, params: query, change }), [path, query, change]);
}

export function hrefTo(path: string, params: Params = {}): string {
  const given = Object.entries(params).filter((pair): pair is [string, string] => Boolean(pair[1]));
  const search = new URLSearchParams(given).toString();
  return search === "" ? path : `${path}?${search}`;
}

export const SCOPE_NAMES = ["user", "agent", "team", "session"] as const;

/** The scope that the URL names. Undefined if it names no owner. */
export function scopeIn(params: Params): Scope | undefined {
  const scope = Object.fromEntries(SCOPE_NAMES.flatMap((name) => (params[name] ? [[name, params[name]]] : [])));
  return scope["user"] || scope["agent"] || scope["team"] ? scope : undefined;
}

/** The space that the scope of the URL belongs to. */
export function spaceIn(params: Params): SpaceRef | undefined {
  const { user, team, agent } = scopeIn(params) ?? {};
  if (user !== undefined) return { user };
  if (team !== undefined) return { team };
  return agent === undefined ? undefined : { agent };
}
