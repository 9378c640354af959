/** How long a command waits for a complete answer. The process ends with the command, so it cannot ask again later. */
export const DEADLINE_MS = 30_000;
