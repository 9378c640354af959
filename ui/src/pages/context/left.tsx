/** What was found but not given, by reason. */
import type { Context } from "holdfast/client";
import { count } from "../../parts/format.js";
import { PART_NAMES } from "./options.js";

const SHOWN_MAX = 50;

export function Left({ left }: { readonly left: Context["left"] }) {
  if (left.length === 0) return null;
  const byReason = Map.groupBy(left, ({ why }) => why);
  return (
    <section class="card" aria-labelledby="left-head">
      <header>
        <h2 id="left-head">Left out</h2>
        <span class="muted small number">{count(left.length)}</span>
      </header>
      <ul class="stack">
        {[...byReason].map(([why, items]) => (
          <li key={why}>
            <details>
              <summary>
                <span class="number">{count(items.length)}</span> · {why}
              </summary>
              <ul class="left-items">
                {items.slice(0, SHOWN_MAX).map(({ part, id }) => (
                  <li key={`${part} ${id}`}>
                    <span class={`swatch part-${part}`} aria-hidden="true" /> {PART_NAMES[part]} <code>{id}</code>
                  </li>
                ))}
              </ul>
            </details>
          </li>
        ))}
      </ul>
    </section>
  );
}
