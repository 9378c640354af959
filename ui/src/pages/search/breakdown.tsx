/** What a score consists of: a bar of its parts, and their numbers. */
import type { Hit } from "./answer.js";

const PARTS = [
  ["words", "Words"],
  ["meaning", "Meaning"],
  ["exact", "Exact"],
  ["role", "Role"],
  ["date", "Date"],
  ["session", "Session"],
  ["recency", "Recency"],
] as const;

export function Breakdown({ why, scale }: { readonly why: NonNullable<Hit["why"]>; readonly scale: number }) {
  const parts = PARTS.map(([name, label]) => {
    const part = why[name];
    return { name, label, share: typeof part === "object" ? part.share : (part ?? 0) };
  }).filter(({ share }) => share > 0);
  return (
    <div class="why">
      <div class="why-bar" aria-hidden="true">
        {parts.map(({ name, share }) => (
          <span key={name} class={`why-${name}`} style={{ width: `${(100 * share) / scale}%` }} />
        ))}
      </div>
      <ul class="row small" aria-label="What the score consists of">
        {parts.map(({ name, label, share }) => (
          <li key={name}>
            <span class={`swatch why-${name}`} aria-hidden="true" />
            {label} <span class="number">{share.toFixed(2)}</span>
          </li>
        ))}
        {why.meaning && <li class="muted">cosine {why.meaning.score.toFixed(2)}</li>}
        {why.words && why.words.score > 0 && <li class="muted">BM25 {why.words.score.toFixed(2)}</li>}
      </ul>
    </div>
  );
}
