/** Names of spaces and lanes as keys of maps. */
import type { Lane } from "../stores/indexing.js";
import type { SpaceRef } from "../types.js";

export const spaceName = (space: SpaceRef): string => JSON.stringify(space);

export const laneName = ({ space, session }: Lane): string => JSON.stringify([space, session]);
