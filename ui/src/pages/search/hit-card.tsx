/** A hit: its text, where it comes from, and what its score consists of. */
import { hrefTo } from "../../app/place.js";
import { age, moment } from "../../parts/format.js";
import { StoredName, StoredText } from "../../parts/stored-text.js";
import type { Hit } from "./answer.js";
import { Breakdown } from "./breakdown.js";

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
              <StoredName text={hit.session} max={60} />
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
