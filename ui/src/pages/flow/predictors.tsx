/** The SpeculativeBuffer: what each predictor guessed, and what became of it. */
import type { MemoryStats } from "holdfast/client";
import { bytes, count, ms, plural } from "../../parts/format.js";

type Speculative = NonNullable<MemoryStats["speculative"]>;

const NAMES: { readonly [name in keyof Speculative["predictors"]]-?: readonly [name: string, guess: string] } = {
  next_line: ["Next line", "the message just added is the next question"],
  stride: ["Stride", "a series continues: pages, dates, numbers, sessions"],
  correlation: ["Correlation", "what followed a similar question before"],
  topic: ["Topic", "the newest messages together"],
  opening: ["Opening", "a space that comes into use is asked soon"],
  anticipate: ["Anticipate", "what the application says is being typed"],
};

export function Predictors({ speculative }: { readonly speculative: Speculative | undefined }) {
  return (
    <section class="card" aria-labelledby="speculative-head">
      <header>
        <h2 id="speculative-head">SpeculativeBuffer</h2>
        <span class="muted small">
          {speculative
            ? `${count(speculative.entries)} of ${plural(speculative.maxSize, "answer")} held, ${bytes(speculative.bytes)} of ${bytes(speculative.maxBytes)}`
            : "turned off (buffer.speculative.max_size is 0)"}
        </span>
      </header>
      {speculative && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is reached by the keyboard
        <section class="table-wrap" tabIndex={0} aria-label="Predictors">
          <table class="predictors">
            <thead>
              <tr>
                <th scope="col">Predictor</th>
                {["Issued", "Served", "Late", "Wasted", "Saved"].map((name) => (
                  <th key={name} scope="col" class="end">
                    {name}
                  </th>
                ))}
                <th scope="col">Usefulness</th>
              </tr>
            </thead>
            <tbody>
              {Object.entries(speculative.predictors).map(([name, record]) => (
                <tr key={name}>
                  <th scope="row">
                    <span class="predictor">{NAMES[name as keyof typeof NAMES][0]}</span>
                    <span class="muted small">{NAMES[name as keyof typeof NAMES][1]}</span>
                  </th>
                  {[record.issued, record.served, record.late, record.wasted].map((value, at) => (
                    <td key={at} class="number end">
                      {count(value)}
                    </td>
                  ))}
                  <td class="number end">{ms(record.savedMs)}</td>
                  <td>
                    <span class={`badge ${record.isThrottled ? "" : "good"}`}>
                      {Math.round(100 * record.usefulness)} % {record.isThrottled ? "throttled" : "searching"}
                    </span>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </section>
  );
}
