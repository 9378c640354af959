/**
 * Agents as attributes: items and sessions of any space name the agent they came from. The name follows the agent's
 * registry entry, and goes with it. An answer that shows the old name is stale, so the space has changed.
 */
import type { Attempt } from "./attempt.js";
import type { Registry } from "./registry.js";
import type { Space } from "./space.js";

/** Gives everything that names the agent `before` the name `after`, or none. */
export function nameAgent(before: string, after: string | undefined, registry: Registry, attempt: Attempt): void {
  for (const space of registry.all()) {
    if (nameInRows(space, before, after, attempt)) attempt.touched.add(space);
    if (nameInSessions(space, before, after, attempt)) attempt.touched.add(space);
  }
}

function nameInRows(space: Space, before: string, after: string | undefined, attempt: Attempt): boolean {
  const rows = [...space.rows.values()].filter((row) => row.agent === before);
  for (const { agent: _agent, ...row } of rows) attempt.set(space.rows, row.id, { ...row, ...named(after) });
  return rows.length > 0;
}

function nameInSessions(space: Space, before: string, after: string | undefined, attempt: Attempt): boolean {
  const sessions = [...space.sessions.values()].filter((session) => session.entry.agent === before);
  for (const session of sessions) {
    const { agent: _agent, ...entry } = session.entry;
    attempt.assign(session, { entry: { ...entry, ...named(after) } });
  }
  return sessions.length > 0;
}

function named(agent: string | undefined): { readonly agent?: string } {
  return agent === undefined ? {} : { agent };
}
