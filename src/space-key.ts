/** Map keys for spaces and lanes. A lane is a session, or the items of a space outside any session. */
import type { SpaceKind, SpaceRef } from "./types.js";

interface Lane {
  readonly space: SpaceRef;
  readonly session?: string | undefined;
}

export const namedSpace = (kind: SpaceKind, name: string): SpaceRef => ({ [kind]: name }) as unknown as SpaceRef;

/** The space of a registry entry: a session's space, or the user's, agent's or team's own. */
export const entrySpace = (
  entry: { readonly kind: SpaceKind; readonly name: string } | { readonly kind: "session"; readonly space: SpaceRef },
): SpaceRef => (entry.kind === "session" ? entry.space : namedSpace(entry.kind, entry.name));

export const spaceKey = (space: SpaceRef): string => JSON.stringify(space);

export const laneKey = ({ space, session }: Lane): string => JSON.stringify([space, session]);

/** The lane of a place, without the other fields of the place. */
export const laneIn = ({ space, session }: Lane): { readonly space: SpaceRef; readonly session?: string } =>
  session === undefined ? { space } : { space, session };
