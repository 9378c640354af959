/** What a read may see: the spaces that exist, and the condition for their visible items under the filter. */
import type { SpaceRef } from "../../types.js";
import type { RowFilter } from "../store.js";
import { all, type Condition, matching, type SpaceRow, visibleIn } from "./filter.js";
import type { Registry } from "./registry.js";

export interface Scope {
  readonly spaces: readonly SpaceRow[];
  /** Absent if there can be no items. */
  readonly condition?: Condition;
  /** The keys of the filter's sessions. */
  readonly sessions?: readonly number[];
}

/** `scan`: whether the items are to be found by their space, because nothing better leads to them. */
export function resolveScope(
  registry: Registry,
  refs: readonly SpaceRef[],
  filter: RowFilter,
  now: number,
  scan: boolean,
): Scope {
  const spaces = registry.findSpaces(refs);
  if (spaces.length === 0) return { spaces };
  const sessions = filter.sessions && registry.sessionKeys(spaces, filter.sessions);
  const agents = filter.agents && registry.agentKeys(filter.agents);
  if (sessions?.length === 0 || agents?.length === 0) return { spaces };
  const narrowing = matching(filter, spaces, sessions, agents);
  const visible = visibleIn(spaces, now, scan && sessions === undefined && !filter.pending);
  const condition = narrowing ? all([visible, narrowing]) : visible;
  return { spaces, condition, ...(sessions && { sessions }) };
}
