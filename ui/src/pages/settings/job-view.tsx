/** What a job is doing: its progress with a button to cancel it, then its report, or why it ended. */
import type { ComponentChildren } from "preact";
import { Button } from "../../parts/button.js";
import { Failure } from "../../parts/states.js";
import type { Job } from "./job.js";

interface JobViewProps<P, R> {
  readonly job: Job<P, R>;
  readonly label: string;
  /** The share that is done, if it is known, and words for it. */
  readonly progress: (progress: P | undefined) => { readonly share?: number; readonly words: ComponentChildren };
  readonly report: (report: R) => ComponentChildren;
  /** What stays of a job that was cancelled. */
  readonly cancelled: string;
  readonly failure?: (error: unknown) => ComponentChildren;
}

export function JobView<P, R>({ job, label, progress, report, cancelled, failure }: JobViewProps<P, R>) {
  const { now } = job;
  switch (now.state) {
    case "idle":
      return null;
    case "running": {
      const { share, words } = progress(now.progress);
      return (
        <div class="job" aria-busy="true">
          <progress class="job-bar" aria-label={label} {...(share !== undefined && { value: share, max: 1 })} />
          <span class="number" role="status">
            {words}
          </span>
          <Button small onClick={() => job.cancel()}>
            Cancel
          </Button>
        </div>
      );
    }
    case "done":
      return <div role="status">{report(now.report)}</div>;
    case "cancelled":
      return (
        <p class="muted" role="status">
          {cancelled}
        </p>
      );
    case "failed":
      return (
        <div class="stack">
          <Failure error={now.error} />
          {failure?.(now.error)}
        </div>
      );
  }
}
