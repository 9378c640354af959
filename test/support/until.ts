/** The condition is asked soon at first, and less often the longer it takes: asking has its price too. */
const PAUSE_MS_MAX = 16;

/** Waits until the condition holds. The test's time-out bounds it. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let pauseMs = 1; !(await condition()); pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX)) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
