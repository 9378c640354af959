/** A hit: its text, where it comes from, and a bar that shows what its score consists of. */
import { hrefTo } from "../../app/place.js";
import { age, moment } from "../../parts/format.js";
import { StoredText } from "../../parts/stored-text.js";
import type { Hit } from "./answer.js";

const LEVELS: { readonly [level in Hit["level"]]: string } = {
  round: "RoundBuffer",
  hybrid: "HybridBuffer",
  store: "Store",
};

export function HitCard({ hit, rank, best }: { readonly hit: Hit; readonly rank: number; readonly best: number }) {
  return (
    <article class="card hit" aria-label={`Hit ${rank}`}>
      <header>
        <div class="row small">
          <span class="muted number">{rank}</span>
          <span class="badge accent">{hit.role ?? hit.kind}</span>
          {hit.session !== undefined && (
            <span class="muted">
              <StoredText text={hit.session} max={60} />
            </span>
          )}
          {hit.scope === "in_session" && <span class="badge">this session</span>}
        </div>
        <div class="row small muted">
          <time dateTime={new Date(hit.occurredAt).toISOString()} title={moment(hit.occurredAt)}>
            {age(hit.occurredAt)} ago
          </time>
          <span class="badge">{LEVELS[hit.level]}</span>
          <span class="number score">{hit.score.toFixed(3)}</span>
        </div>
      </header>
      <p class="hit-text">
        <StoredText text={hit.content} max={1_200} />
      </p>
      <Whereabouts hit={hit} />
      {hit.why && <Breakdown why={hit.why} scale={Math.max(best, hit.score)} />}
    </article>
  );
}

/** Leads to the hit among what surrounds it. */
function Whereabouts({ hit: { id, kind, space, session } }: { readonly hit: Hit }) {
  if (kind === "fact") {
    return (
      <a class="small" href={hrefTo("/blocks", { ...space, tab: "facts", fact: id })}>
        Show this fact and its sources
      </a>
    );
  }
  return (
    <a class="small" href={hrefTo("/conversations", { ...space, session, item: id })}>
      {session === undefined ? "Show among all items" : "Show in its conversation"}
    </a>
  );
}

const PARTS = [
  ["words", "Words"],
  ["meaning", "Meaning"],
  ["exact", "Exact"],
  ["role", "Role"],
  ["date", "Date"],
  ["session", "Session"],
  ["recency", "Recency"],
] as const;

function Breakdown({ why, scale }: { readonly why: NonNullable<Hit["why"]>; readonly scale: number }) {
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
