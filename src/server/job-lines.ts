/**
 * The lines of a job: its progress while it runs, then its report. A reader that is slow gets the latest progress only. When
 * the reader leaves, the job is stopped.
 */
import type { UpkeepProgress, Watch } from "../upkeep/progress.js";

export async function* jobLines<T extends object>(
  work: (watch: Watch) => Promise<T>,
  stopping: AbortSignal,
): AsyncGenerator<string, void, void> {
  const left = new AbortController();
  let latest: UpkeepProgress | undefined;
  let wake = (): void => {};
  const job = work({
    signal: AbortSignal.any([stopping, left.signal]),
    onProgress: (progress) => {
      latest = progress;
      wake();
    },
  });
  let isOver = false;
  const end = (): void => {
    isOver = true;
    wake();
  };
  job.then(end, end);
  try {
    while (!isOver) {
      if (!latest) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      if (latest) yield JSON.stringify({ type: "progress", ...latest });
      latest = undefined;
    }
    yield JSON.stringify({ type: "report", ...(await job) });
  } finally {
    left.abort(new Error("nobody reads the report"));
    await job.catch(() => undefined); // told above; here only its end matters
  }
}
