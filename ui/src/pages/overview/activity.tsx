/** What happens in memory, as it happens. Events carry no content. */
import { useEffect, useState } from "preact/hooks";
import { type LiveEvent, recent } from "../../app/live.js";
import { age, moment, plural } from "../../parts/format.js";
import { plainText, StoredSpace } from "../../parts/stored-text.js";

const SHOWN_MAX = 8;
const TICK_MS = 10_000;

export function Activity() {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((before) => before + 1), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  const shown = recent.value.slice(0, SHOWN_MAX);
  return (
    <section class="card" aria-labelledby="activity-head">
      <header>
        <h2 id="activity-head">Activity</h2>
        <span class="muted small">since this page was opened</span>
      </header>
      {shown.length === 0 && <p class="muted">Nothing yet. What agents do appears here as it happens.</p>}
      <ol class="lines" aria-live="polite" aria-relevant="additions">
        {shown.map((event, at) => (
          <li key={`${event.at} ${recent.value.length - at}`}>
            <span>{words(event)}</span>
            <span class="muted small">{"space" in event && <StoredSpace space={event.space} />}</span>
            <time class="muted small" dateTime={new Date(event.at).toISOString()} title={moment(event.at)}>
              {age(event.at)} ago
            </time>
          </li>
        ))}
      </ol>
    </section>
  );
}

export function words(event: LiveEvent): string {
  switch (event.type) {
    case "added":
      return `Added ${plural(event.ids.length, "item")}`;
    case "edited":
      return `Edited an item, now version ${event.version}`;
    case "deleted":
      return `Deleted ${plural(event.items, "item")}`;
    case "forgotten":
      return `Forgot ${plural(event.items, "item")}`;
    case "promoted":
      return `Promoted ${plural(event.ids.length, "item")}`;
    case "renamed":
      return "Renamed";
    case "block":
      return `Block ${plainText(event.name, 60)}, version ${event.version}`;
    case "fact":
      return `Fact ${event.state}`;
    case "transferred":
      return `Embedded ${plural(event.ids.length, "item")} (${event.reason})`;
    case "flushed":
      return `Wrote the vectors of ${plural(event.ids.length, "item")} (${event.reason})`;
    case "parked":
      return `Parked an item: ${event.code}`;
    case "prefetched":
      return `Prefetch by ${event.predictor.replace("_", " ")}: ${event.outcome}`;
    case "replayed":
      return `Retried ${plural(event.items, "item")}`;
    case "changed":
      return "Changed by another process";
    case "missed":
      return `Missed ${plural(event.count, "event")}`;
    case "reconnected":
      return "Connected again";
  }
}
