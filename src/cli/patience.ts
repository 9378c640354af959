/** How long a command waits for a whole answer: its process ends with it, so there is no later in which it could ask again. */
export const PATIENCE_MS = 30_000;
