/** Backup and checks of the file, and the model of its vectors. */
import type { Check, Diagnosis, MemoryStats, UpkeepProgress } from "holdfast/client";
import { memory } from "../../app/connection.js";
import { useChanges } from "../../app/live.js";
import { useLoaded } from "../../app/loaded.js";
import { Button, CopyButton } from "../../parts/button.js";
import { openDownload } from "../../parts/download.js";
import { bytes, count, plural } from "../../parts/format.js";
import { Shown } from "../../parts/states.js";
import { StoredText } from "../../parts/stored-text.js";
import { Job } from "./job.js";
import { JobView } from "./job-view.js";
import { Scrolling } from "./scrolling.js";

export function Upkeep() {
  return (
    <div class="stack">
      <div class="settings-two">
        <Backup />
        <Model />
      </div>
      <Doctor />
    </div>
  );
}

interface Copied {
  readonly done: number;
  readonly total: number;
}

const backingUp = new Job<Copied, { readonly name: string; readonly bytes: number }>();

function Backup() {
  const start = async (): Promise<void> => {
    const file = await openDownload(`holdfast-${new Date().toISOString().slice(0, 19).replaceAll(":", "-")}.db`);
    if (!file) return;
    await backingUp.run(async ({ signal, onProgress }) => {
      try {
        const backup = await memory.value.backup({ signal });
        let done = 0;
        const reader = backup.content.getReader();
        for (;;) {
          const { value, done: isOver } = await reader.read();
          if (isOver) break;
          await file.write(value);
          done += value.length;
          onProgress({ done, total: backup.bytes });
        }
        await file.close();
        return { name: file.name, bytes: done };
      } catch (error) {
        await file.abort();
        throw error;
      }
    });
  };
  return (
    <section class="card stack" aria-labelledby="backup-head">
      <h2 id="backup-head">Backup</h2>
      <p class="muted">
        A consistent copy of the file, checked before it is sent. Agents go on working meanwhile. It contains
        everything, so keep it as safe as the file itself.
      </p>
      <div>
        <Button kind="primary" disabled={backingUp.isRunning} onClick={() => void start()}>
          Download a backup
        </Button>
      </div>
      <JobView
        job={backingUp}
        label="Backup"
        progress={(copied) =>
          copied
            ? { share: copied.done / copied.total, words: `${bytes(copied.done)} of ${bytes(copied.total)}` }
            : { words: "the server makes and checks the copy" }
        }
        report={(report) => (
          <p>
            <strong>
              <StoredText text={report.name} />
            </strong>
            : {bytes(report.bytes)}, checked. Restore it with:
          </p>
        )}
        cancelled="Cancelled. No file was written."
      />
      <Command text="holdfast restore BACKUP --path FILE" />
    </section>
  );
}

const checking = new Job<UpkeepProgress, Diagnosis>();

const STATES: { readonly [state in Check["state"]]: readonly [tone: string, words: string] } = {
  ok: ["good", "ok"],
  warning: ["warn", "warning"],
  error: ["bad", "error"],
};
const VERDICTS: { readonly [state in Check["state"]]: string } = {
  ok: "No problems found.",
  warning: "It works. Some things deserve attention.",
  error: "Something is wrong.",
};

function Doctor() {
  const start = (deep: boolean): void =>
    void checking.run((watch) => memory.value.inspect({ ...watch, ...(deep && { deep }) }));
  return (
    <section class="card stack" aria-labelledby="doctor-head">
      <header class="card-head">
        <h2 id="doctor-head">Checks</h2>
        <div class="row">
          <Button disabled={checking.isRunning} onClick={() => start(false)}>
            Check the file
          </Button>
          <Button disabled={checking.isRunning} onClick={() => start(true)}>
            Check everything
          </Button>
        </div>
      </header>
      <p class="muted">
        Looks at the file, its indexes and the model, and changes nothing. Checking everything reads it all.
      </p>
      <JobView
        job={checking}
        label="Checks"
        progress={(step) =>
          step
            ? { share: step.done / step.total, words: `${step.step}, ${step.done} of ${step.total}` }
            : { words: "starting" }
        }
        report={(diagnosis) => <Findings diagnosis={diagnosis} />}
        cancelled="Cancelled."
      />
    </section>
  );
}

function Findings({ diagnosis: { state, checks } }: { readonly diagnosis: Diagnosis }) {
  return (
    <div class="stack">
      <p>
        <strong>{VERDICTS[state]}</strong>
      </p>
      <Scrolling label="Findings">
        <table class="findings">
          <thead>
            <tr>
              <th scope="col">Check</th>
              <th scope="col">State</th>
              <th scope="col">Found</th>
            </tr>
          </thead>
          <tbody>
            {checks.map((check) => (
              <tr key={check.name}>
                <td>{check.name}</td>
                <td>
                  <span class={`badge ${STATES[check.state][0]}`}>{STATES[check.state][1]}</span>
                </td>
                <td>
                  <StoredText text={check.what} max={400} />
                  {check.todo !== undefined && (
                    <p class="muted">
                      <StoredText text={check.todo} max={400} />
                    </p>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolling>
    </div>
  );
}

function Model() {
  const changes = useChanges(({ type }) => type === "transferred" || type === "flushed" || type === "changed");
  const loaded = useLoaded(() => memory.value.stats(), [memory.value], [changes]);
  return (
    <section class="card stack" aria-labelledby="model-head">
      <h2 id="model-head">Model of the vectors</h2>
      <Shown of={loaded} label="the model">
        {({ store }) => <Vectors store={store} />}
      </Shown>
      <p class="muted">
        Another model needs new vectors of everything. The server keeps the model that it was started with, so this is
        done beside it: search goes on with the old vectors until the new ones are complete. Then set the model in the
        configuration, and start the server again.
      </p>
      <Command text="holdfast reindex --model NAME --path FILE" />
    </section>
  );
}

function Vectors({ store: { vectorSpace, next, embedded, pending } }: { readonly store: MemoryStats["store"] }) {
  const total = next ? next.embedded + next.remaining : 0;
  return (
    <div class="stack">
      {vectorSpace ? (
        <p>
          <strong>
            <StoredText text={vectorSpace.model} max={120} />
          </strong>
          , {count(vectorSpace.dimensions)} numbers each: {plural(embedded, "item")} embedded, {count(pending)} waiting.
        </p>
      ) : (
        <p>Nothing is embedded yet. Search works by words.</p>
      )}
      {next && (
        <div class="job">
          <progress class="job-bar" aria-label="Reindex" value={total === 0 ? 1 : next.embedded / total} max={1} />
          <span class="number">
            Moving to <StoredText text={next.vectorSpace.model} max={120} />: {count(next.embedded)} of {count(total)}
          </span>
        </div>
      )}
    </div>
  );
}

function Command({ text }: { readonly text: string }) {
  return (
    <div class="secret">
      <code>{text}</code>
      <CopyButton text={() => text} />
    </div>
  );
}
