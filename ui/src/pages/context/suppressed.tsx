/** What this call does not give again, because the model's window contains it. */
import type { Context } from "holdfast/client";
import { count, plural } from "../../parts/format.js";
import { StoredText } from "../../parts/stored-text.js";
import { PART_NAMES } from "./options.js";

const SHOWN_MAX = 50;
const TEXT_UNITS = 300;

export type Given = Context["added"];

/** What a call with an empty window would give, and this one does not. */
export function suppressedIn({ added, changed }: Context, withEmptyWindow: Context): Given {
  const told = new Set([...added, ...changed].map(keyOf));
  return withEmptyWindow.added.filter((item) => !told.has(keyOf(item)));
}

const keyOf = ({ part, id }: { readonly part: string; readonly id: string }): string => `${part} ${id}`;

export function Suppressed({ items }: { readonly items: Given }) {
  if (items.length === 0) return null;
  return (
    <details>
      <summary>{plural(items.length, "item")} not given again</summary>
      <ul class="stack suppressed">
        {items.slice(0, SHOWN_MAX).map((item) => (
          <li key={keyOf(item)} class={`piece in-${item.part}`}>
            <p class="piece-label small">
              <span class={`swatch part-${item.part}`} aria-hidden="true" />
              {PART_NAMES[item.part]}
              <span class="number muted">{count(item.tokens)}</span>
            </p>
            <pre>
              <StoredText text={item.text} max={TEXT_UNITS} />
            </pre>
          </li>
        ))}
      </ul>
      {items.length > SHOWN_MAX && <p class="muted">and {count(items.length - SHOWN_MAX)} more</p>}
    </details>
  );
}
