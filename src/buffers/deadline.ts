import type { Clock } from "../clock.js";

/** Waits for work that should end soon, but for no longer than this. */
export async function within(clock: Clock, ms: number, work: Promise<void>): Promise<void> {
  let cancel = (): void => {};
  const deadline = new Promise<void>((resolve) => {
    cancel = clock.after(ms, resolve);
  });
  await Promise.race([work, deadline]);
  cancel();
}
