/** Import: an export, or plain messages, from a file on the user's disk. */
import { HoldfastError, type ImportProgress, type ImportReport, type OnConflict } from "holdfast/client";
import { useState } from "preact/hooks";
import { memory } from "../../app/connection.js";
import { scopeIn, usePlace } from "../../app/place.js";
import { Button } from "../../parts/button.js";
import { Field } from "../../parts/field.js";
import { bytes, count, plural } from "../../parts/format.js";
import { ScopeFields } from "../../parts/scope-fields.js";
import { Job } from "./job.js";
import { JobView } from "./job-view.js";

interface Importing extends ImportProgress {
  readonly total: number;
}

const importing = new Job<Importing, ImportReport>();

const CONFLICTS: readonly (readonly [OnConflict, string])[] = [
  ["stop", "stop there"],
  ["skip", "keep what is there, and go on"],
];

export function Import() {
  const { params } = usePlace();
  const [file, setFile] = useState<File | undefined>();
  const [onConflict, setOnConflict] = useState<OnConflict>("stop");
  const scope = scopeIn(params);
  const start = (): void => {
    if (!file) return;
    void importing.run(({ signal, onProgress }) =>
      memory.value.import(file, {
        signal,
        onConflict,
        ...(scope && { scope }),
        onProgress: (progress) => onProgress({ ...progress, total: file.size }),
      }),
    );
  };
  return (
    <section class="card stack settings-one" aria-labelledby="import-head">
      <h2 id="import-head">Import</h2>
      <p class="muted">
        An export, or plain messages as lines of JSON. What is there stays as it is, and importing a file again adds
        nothing twice.
      </p>
      <Field label="File">
        <input
          class="input"
          type="file"
          accept=".jsonl,.ndjson,.json,application/x-ndjson"
          onChange={(event) => setFile(event.currentTarget.files?.[0])}
        />
      </Field>
      <Field label="If something exists with other content">
        <select
          class="input"
          value={onConflict}
          onChange={(event) => setOnConflict(event.currentTarget.value as OnConflict)}
        >
          {CONFLICTS.map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      </Field>
      <details open={scope !== undefined}>
        <summary>Where plain messages go</summary>
        <ScopeFields />
      </details>
      <div>
        <Button kind="primary" disabled={!file || importing.isRunning} onClick={start}>
          Import
        </Button>
      </div>
      <JobView
        job={importing}
        label="Import"
        progress={(told) =>
          told
            ? {
                share: told.total === 0 ? 1 : told.bytes / told.total,
                words: `${plural(told.lines, "line")}, ${plural(told.items, "item")}, ${bytes(told.bytes)} of ${bytes(told.total)}`,
              }
            : { words: "starting" }
        }
        report={(report) => <Report title="Imported" report={report} />}
        cancelled="Cancelled. What was imported until then stays; import the file again to go on."
        failure={(error) => {
          const report = error instanceof HoldfastError ? error.details["report"] : undefined;
          return report ? <Report title="Imported before that" report={report as ImportReport} /> : null;
        }}
      />
    </section>
  );
}

const COUNTED: readonly (readonly [name: keyof ImportReport, label: string])[] = [
  ["lines", "Lines read"],
  ["entries", "Users, agents and teams"],
  ["sessions", "Sessions"],
  ["items", "Items"],
  ["blocks", "Versions of blocks"],
  ["facts", "Facts"],
  ["superseded", "Superseded facts"],
  ["points", "Points"],
  ["promotions", "Promotions"],
  ["repeated", "Already there"],
  ["conflicts", "Kept, because the content differs"],
  ["skipped", "Skipped"],
];

function Report({ title, report }: { readonly title: string; readonly report: ImportReport }) {
  return (
    <div class="stack">
      <h3>{title}</h3>
      <dl class="report">
        {COUNTED.filter(([name]) => name === "lines" || name === "items" || report[name] > 0).map(([name, label]) => (
          <div key={name}>
            <dt>{label}</dt>
            <dd class="number">{count(report[name])}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
