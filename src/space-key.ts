/** Map keys for spaces and lanes. A lane is a session, or the items of a space outside any session. */
import type { SpaceRef } from "./types.js";

interface Lane {
  readonly space: SpaceRef;
  readonly session?: string | undefined;
}

export const spaceKey = (space: SpaceRef): string => JSON.stringify(space);

export const laneKey = ({ space, session }: Lane): string => JSON.stringify([space, session]);

/** The lane of a place, without the other fields of the place. */
export const laneIn = ({ space, session }: Lane): { readonly space: SpaceRef; readonly session?: string } =>
  session === undefined ? { space } : { space, session };
