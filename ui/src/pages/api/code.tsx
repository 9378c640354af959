/** Code of an operation: a switch between languages, and a button that copies. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { hasKey } from "../../app/connection.js";
import { CopyButton } from "../../parts/button.js";
import { Segments } from "../../parts/field.js";
import type { CodeSample } from "./openapi.js";

/** The address in the samples of the document. */
const SERVER = "http://127.0.0.1:8000";

export function Code({ samples }: { readonly samples: readonly CodeSample[] }) {
  const [chosen, setChosen] = useState("");
  const sample = samples.find(({ lang }) => lang === chosen) ?? samples[0];
  if (!sample) return null;
  const source = here(sample);
  return (
    <section class="stack" aria-label="Code">
      <div class="card-head code-head">
        {samples.length > 1 ? (
          <Segments
            label="Language"
            choices={samples.map(({ lang, label }) => [lang, label] as const)}
            value={sample.lang}
            onChoose={setChosen}
          />
        ) : (
          <span class="muted">{sample.label}</span>
        )}
        <CopyButton text={() => source} />
      </div>
      <Source label="Source">{source}</Source>
    </section>
  );
}

/** Code or data, which scrolls if it is long, also by the keyboard. */
export function Source({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
    <section class="code" aria-label={label} tabIndex={0}>
      <pre>{children}</pre>
    </section>
  );
}

/** The sample with the address of this server, and with a key if the server requires one. */
function here({ lang, source }: CodeSample): string {
  const code = source.replaceAll(SERVER, location.origin);
  if (!hasKey.value) return code;
  if (lang === "Shell") return `${code} \\\n  -H "authorization: Bearer $HOLDFAST_KEY"`;
  return code.replace(/^(const memory = connect\("[^"]+")\).*$/m, "$1, { key: process.env.HOLDFAST_KEY });");
}
