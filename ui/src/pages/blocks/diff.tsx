/** A unified diff, line by line. Its text comes from memory and may be hostile. */
import { useState } from "preact/hooks";
import { Button } from "../../parts/button.js";
import { StoredText } from "../../parts/stored-text.js";

const LINES_MAX = 200;
const LINE_UNITS_MAX = 2_000;

export function Diff({ diff }: { readonly diff: string }) {
  const [shown, setShown] = useState(LINES_MAX);
  const lines = linesOf(diff);
  if (lines.length === 0) return <p class="muted">The text stayed the same.</p>;
  if (lines.every(({ sign }) => sign === " ")) return <p class="muted">Only the line feed at the end changed.</p>;
  return (
    <div class="diff">
      {lines.slice(0, shown).map(({ sign, text }, at) => {
        const Line = sign === "+" ? "ins" : sign === "-" ? "del" : "div";
        return (
          <Line key={at} class={sign === "@" ? "diff-note" : ""}>
            <span aria-hidden="true">{sign === "@" ? " " : sign}</span>
            {sign === "@" ? "⋯" : <StoredText text={text} max={LINE_UNITS_MAX} />}
          </Line>
        );
      })}
      {lines.length > shown && (
        <Button kind="quiet" small onClick={() => setShown(lines.length)}>
          Show {lines.length - shown} more lines
        </Button>
      )}
    </div>
  );
}

interface Line {
  readonly sign: string;
  readonly text: string;
}

/**
 * The lines of all hunks, without the head of the diff and of the first hunk. Whether the last line ends with a line feed
 * is left out: a line that differs in nothing else is shown as unchanged.
 */
function linesOf(diff: string): readonly Line[] {
  const lines = diff.replace(/\n$/, "").split("\n");
  const start = lines.findIndex((line) => line.startsWith("@@"));
  if (start < 0) return [];
  const kept: Line[] = [];
  for (const line of lines.slice(start + 1)) {
    const [sign, text] = [line.charAt(0), line.slice(1)];
    const last = kept.at(-1);
    if (sign === "\\") continue;
    if (sign === "+" && last?.sign === "-" && last.text === text) kept[kept.length - 1] = { sign: " ", text };
    else kept.push({ sign, text });
  }
  return kept;
}
