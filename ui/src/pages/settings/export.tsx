/** Export: a memory as lines of JSON, into a file on the user's disk. */
import { memory } from "../../app/connection.js";
import { scopeIn, usePlace } from "../../app/place.js";
import { Button } from "../../parts/button.js";
import { openDownload } from "../../parts/download.js";
import { bytes, plural } from "../../parts/format.js";
import { ScopeFields } from "../../parts/scope-fields.js";
import { StoredText } from "../../parts/stored-text.js";
import { Job } from "./job.js";
import { JobView } from "./job-view.js";

interface Exported {
  readonly lines: number;
  readonly bytes: number;
}

const exporting = new Job<Exported, Exported & { readonly name: string }>();

export function Export() {
  const { params } = usePlace();
  const scope = scopeIn(params);
  const start = async (): Promise<void> => {
    const now = new Date().toISOString().slice(0, 19).replaceAll(":", "-");
    const file = await openDownload(`holdfast-${now}.jsonl`);
    if (!file) return;
    await exporting.run(async ({ signal, onProgress }) => {
      const done = { lines: 0, bytes: 0 };
      try {
        for await (const line of memory.value.export({ signal, ...(scope && { scope }) })) {
          const piece = new TextEncoder().encode(`${line}\n`);
          await file.write(piece);
          done.lines++;
          done.bytes += piece.length;
          if (done.lines % TOLD_LINES === 0) onProgress({ ...done });
        }
        await file.close();
      } catch (error) {
        await file.abort();
        throw error;
      }
      return { ...done, name: file.name };
    });
  };
  return (
    <section class="card stack settings-one" aria-labelledby="export-head">
      <h2 id="export-head">Export</h2>
      <p class="muted">Everything in this memory, or one space or session of it, as lines of JSON.</p>
      <ScopeFields />
      <div>
        <Button kind="primary" disabled={exporting.isRunning} onClick={() => void start()}>
          {scope ? "Export this scope" : "Export everything"}
        </Button>
      </div>
      <JobView
        job={exporting}
        label="Export"
        progress={(done) => ({ words: done ? `${plural(done.lines, "line")}, ${bytes(done.bytes)}` : "starting" })}
        report={({ name, ...done }) => (
          <p>
            <strong>
              <StoredText text={name} />
            </strong>
            : {plural(done.lines, "line")}, {bytes(done.bytes)}
          </p>
        )}
        cancelled="Cancelled. No file was written."
      />
    </section>
  );
}

const TOLD_LINES = 100;
