/** The way of a question: the levels in the order in which they are asked, and how many each has answered. */
import type { MemoryStats } from "holdfast/client";
import { count, plural, short } from "../../parts/format.js";
import { Level, Note, Part, Wire } from "./diagram.js";
import type { Movements } from "./movements.js";

export function ReadLane({ stats, movements }: { readonly stats: MemoryStats; readonly movements: Movements }) {
  const { query, speculative } = stats;
  const { answers, rankings, victims, ahead, misses, shared } = query;
  return (
    <div class="lane lane-read">
      <Part id="answers" name="Answers" level="L1" value={short(answers.hits)} unit="answered">
        <Share part={answers.hits} of={query.queries} />
        <Level label="Questions" value={answers.entries} max={query.maxEntries} shown={short} />
      </Part>
      <Wire />
      <Part id="rankings" name="Rankings" level="L1" value={short(rankings.hits)} unit="answered">
        <Share part={rankings.hits} of={query.queries} />
        <Note>content is read again</Note>
      </Part>
      <Wire />
      <Part id="victims" name="Victims" level="L1" value={short(victims.hits)} unit="answered">
        <Share part={victims.hits} of={query.queries} />
        <Note>{plural(victims.entries, "ranking")} evicted from L1</Note>
      </Part>
      <Wire />
      <Part id="ahead" name="Ahead" level="L1" value={short(ahead.hits)} unit="answered">
        <Share part={ahead.hits} of={query.queries} />
        {speculative ? (
          <Level label="Held" value={speculative.entries} max={speculative.maxSize} shown={short} />
        ) : (
          <Note>speculation is off</Note>
        )}
      </Part>
      <Wire movement={movements.ahead} />
      <Part id="search" name="Search" level="L2 + L3" value={short(misses + shared)} unit="searched">
        <Share part={misses + shared} of={query.queries} />
        <Found levels={query.levels} />
      </Part>
    </div>
  );
}

/** The part of all questions that a level has answered. */
function Share({ part, of }: { readonly part: number; readonly of: number }) {
  const share = of === 0 ? 0 : part / of;
  return (
    <span class="level small">
      <span class="level-words">
        <span class="muted">of all questions</span>{" "}
        <span class="number">{of === 0 ? "–" : `${Math.round(100 * share)} %`}</span>
      </span>
      <span class="meter" aria-hidden="true">
        {share > 0 && <span class="fill" style={{ width: `${100 * share}%` }} />}
      </span>
    </span>
  );
}

const LEVELS = [
  ["round", "RoundBuffer, L2"],
  ["hybrid", "HybridBuffer, L2"],
  ["store", "Store, L3"],
] as const;

/** The hits of searches, by the level that found them. */
function Found({ levels }: { readonly levels: MemoryStats["query"]["levels"] }) {
  return (
    <span class="found small">
      {LEVELS.map(([name, label]) => (
        <span key={name} class="level-words">
          <span class="muted">{label}</span> <span class="number">{count(levels[name])}</span>
        </span>
      ))}
    </span>
  );
}
