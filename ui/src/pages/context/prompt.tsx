/** The prompt as a sheet: its pieces marked by part, or as the text or messages that an API takes. */
import { type Context, renderAnthropic, renderOpenAI, renderText } from "holdfast/client";
import { useState } from "preact/hooks";
import { usePlace } from "../../app/place.js";
import { Button, CopyButton } from "../../parts/button.js";
import { Segments } from "../../parts/field.js";
import { count, plural } from "../../parts/format.js";
import { visible } from "../../parts/stored-text.js";
import { PART_NAMES } from "./options.js";
import { prefixSegments, runsOf, type Segment, tailSegments } from "./segments.js";

const FORMATS = [
  ["", "Pieces"],
  ["text", "Text"],
  ["openai", "OpenAI"],
  ["anthropic", "Anthropic"],
] as const;
type Format = (typeof FORMATS)[number][0];

const RUN_MAX = 12;
const RUN_SHOWN = 8;

const RENDER: { readonly [format in Format]: (context: Context) => string } = {
  "": renderText,
  text: renderText,
  openai: (context) => JSON.stringify(renderOpenAI(context), null, 2),
  anthropic: (context) => JSON.stringify(renderAnthropic(context), null, 2),
};

export function Prompt({ context }: { readonly context: Context }) {
  const { params, change } = usePlace();
  const format = FORMATS.find(([one]) => one === params["as"])?.[0] ?? "";
  return (
    <section class="sheet" aria-labelledby="prompt-head">
      <header class="card-head">
        <h2 id="prompt-head">The prompt</h2>
        <div class="row">
          <Segments label="Format" choices={FORMATS} value={format} onChoose={(one) => change({ as: one })} />
          <CopyButton text={() => RENDER[format](context)} />
        </div>
      </header>
      {format === "" ? (
        <Pieces context={context} />
      ) : (
        <pre class="rendered" dir="auto">
          {visible(RENDER[format](context))}
        </pre>
      )}
    </section>
  );
}

function Pieces({ context }: { readonly context: Context }) {
  const prefix = prefixSegments(context);
  return (
    <div class="pieces">
      {prefix.length > 0 && (
        <>
          {prefix.map((segment) => (
            <Piece key={segment.text} segment={segment} />
          ))}
          <p class="seam">
            <span>
              Stable prefix above, <span class="number">{count(context.tokens.prefix)}</span> tokens: the same bytes on
              every turn, so the provider's cache keeps it
            </span>
          </p>
        </>
      )}
      {runsOf(tailSegments(context)).map((run) => (
        <Run key={keyOf(run[0])} segments={run} />
      ))}
    </div>
  );
}

const keyOf = (segment: Segment | undefined): string => segment?.id ?? segment?.text ?? "";

/** Pieces of one part in a row. Most of a long one is shown on demand. */
function Run({ segments }: { readonly segments: readonly Segment[] }) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole || segments.length <= RUN_MAX ? segments : segments.slice(0, RUN_SHOWN);
  const rest = segments.slice(shown.length);
  const tokens = rest.reduce((sum, one) => sum + (one.tokens ?? 0), 0);
  return (
    <>
      {shown.map((segment) => (
        <Piece key={keyOf(segment)} segment={segment} />
      ))}
      {rest.length > 0 && (
        <Button onClick={() => setWhole(true)}>
          Show {plural(rest.length, "more piece")} ({plural(tokens, "token")})
        </Button>
      )}
    </>
  );
}

function Piece({ segment: { text, part, tokens, cut, isChanged } }: { readonly segment: Segment }) {
  if (part === undefined) return <pre class="piece frame">{visible(text)}</pre>;
  const [, heading = "", body = ""] = /^(\[[^\n]*\n)?(.*)$/s.exec(text) ?? [];
  return (
    <div class={`piece in-${part}`}>
      <p class="piece-label small">
        <span class={`swatch part-${part}`} aria-hidden="true" />
        {PART_NAMES[part]}
        {isChanged && <span class="badge">changed</span>}
        {cut && <span class="badge warn">cut</span>}
        {tokens !== undefined && <span class="number muted">{count(tokens)}</span>}
      </p>
      <pre>
        <span class="muted">{visible(heading)}</span>
        <span dir="auto">{visible(body)}</span>
      </pre>
    </div>
  );
}
