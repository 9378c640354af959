/** The budget as one bar: what each part takes, and what is free. */
import type { Context } from "holdfast/client";
import { count } from "../../parts/format.js";
import { PART_NAMES, PARTS } from "./options.js";
import { tokensByPart } from "./segments.js";

export function BudgetBar({ context }: { readonly context: Context }) {
  const { prefix, total, budget, saved } = context.tokens;
  const parts = tokensByPart(context);
  const slices = [
    { name: "Stable prefix", className: "part-prefix", tokens: prefix },
    ...PARTS.map((part) => ({ name: PART_NAMES[part], className: `part-${part}`, tokens: parts.get(part) ?? 0 })),
  ].filter(({ tokens }) => tokens > 0);
  // Counts of the parts need not add up to the whole: headings and separators are the frame.
  const frame = Math.max(0, total - slices.reduce((sum, { tokens }) => sum + tokens, 0));
  const all = frame > 0 ? [...slices, { name: "Frame", className: "part-frame", tokens: frame }] : slices;
  return (
    <section class="budget" aria-label="Budget">
      <div class="budget-head">
        <p>
          <strong class="figure number">{count(total)}</strong> of {count(budget)} tokens
        </p>
        <p class="muted small">
          {count(budget - total)} free{saved > 0 && `, ${count(saved)} not sent again`}
        </p>
      </div>
      <div class="budget-bar" aria-hidden="true">
        {all.map(({ name, className, tokens }) => (
          <span
            key={name}
            class={className}
            style={{ width: `${(100 * tokens) / budget}%` }}
            title={`${name}: ${tokens}`}
          />
        ))}
      </div>
      <ul class="row small legend" aria-label="Tokens by part">
        {all.map(({ name, className, tokens }) => (
          <li key={name}>
            <span class={`swatch ${className}`} aria-hidden="true" />
            {name} <span class="number">{count(tokens)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
