/** What one part of the diagram holds: its counters, the sessions in it, and what moved through it in this tab. */
import type { MemoryStats } from "holdfast/client";
import { type LiveEvent, recent } from "../../app/live.js";
import { usePlace } from "../../app/place.js";
import { Button } from "../../parts/button.js";
import { age, bytes, count, lasting, moment, ms, plural } from "../../parts/format.js";
import { StoredSpace } from "../../parts/stored-text.js";
import { words } from "../overview/activity.js";
import { DETAILS_ID } from "./diagram.js";
import type { Held } from "./flow.js";
import { HybridSessions, RoundSessions } from "./sessions.js";

type Facts = readonly (readonly [label: string, value: string | undefined])[];

interface PartDetails {
  readonly path: "write" | "read";
  readonly name: string;
  readonly about: string;
  readonly facts: (stats: MemoryStats) => Facts;
  /** The events that concern it. */
  readonly events: readonly LiveEvent["type"][];
}

const PARTS = {
  write: {
    path: "write",
    name: "WriteBuffer",
    about: "Calls that arrive during a commit form the next one: one transaction and one sync for all of them.",
    facts: ({ write }) => [
      ["Items written", count(write.totalMessages)],
      ["Units written", count(write.totalWrites)],
      ["Commits", count(write.totalGroups)],
      ["Units per commit", write.totalGroups === 0 ? "–" : (write.totalWrites / write.totalGroups).toFixed(1)],
      ["Calls that wait for room", count(write.waitingForRoom)],
      ["Calls refused", count(write.refused)],
      ["Commits of unknown outcome, resolved", count(write.recoveries)],
      ["State", write.health],
      ["Last error", write.lastError],
    ],
    events: ["added", "edited", "deleted", "forgotten", "promoted", "block", "fact"],
  },
  round: {
    path: "write",
    name: "RoundBuffer",
    about: "Rounds gather here until their session is embedded. Each threshold is that of one session.",
    facts: ({ meaning, store }) =>
      meaning === undefined
        ? []
        : [
            ["Rounds", `at ${plural(meaning.round.thresholds.maxSize, "round")}`],
            ["Tokens", `above ${plural(meaning.round.thresholds.maxTokens, "token")}`],
            ["Idle", `after ${lasting(meaning.round.thresholds.idleMs)}`],
            ["Eager", meaning.round.thresholds.eager ? "yes: thresholds are upper bounds" : "no"],
            ["Items that wait in the store", count(store.pending)],
            ...triggers("Transferred", meaning.round.transferTriggers),
          ],
    events: ["added", "transferred", "parked", "replayed"],
  },
  hybrid: {
    path: "write",
    name: "HybridBuffer",
    about: "Embedded items, searchable at once from the VectorCache. The RoundQueue writes them in batches.",
    facts: ({ meaning }) =>
      meaning === undefined
        ? []
        : [
            ["Rounds", `at ${plural(meaning.hybrid.thresholds.maxSize, "round")}`],
            ["Bytes", `above ${bytes(meaning.hybrid.thresholds.maxBytes / 2)}`],
            ["Idle", `after ${lasting(meaning.hybrid.thresholds.idleMs)}`],
            ["At the latest", `after ${lasting(meaning.hybrid.thresholds.forceMs)}`],
            ["Chunks held", count(meaning.hybrid.chunkCount)],
            ["Items written", count(meaning.hybrid.itemsWritten)],
            ["Items dropped before that", count(meaning.hybrid.itemsDropped)],
            ["Items parked", count(meaning.hybrid.itemsParked)],
            ...triggers("Flushed", meaning.hybrid.flushTriggers),
            ["Last flush failed", meaning.hybrid.flushError],
          ],
    events: ["transferred", "flushed", "parked"],
  },
  store: {
    path: "write",
    name: "Store",
    about: "One SQLite file: text, words and vectors. A search reads one snapshot of it.",
    facts: ({ store, meaning }) => [
      ["Items", count(store.items)],
      ...(meaning ? ([["Items with vectors", count(store.embedded)]] as const) : []),
      ["Vectors", count(store.chunks)],
      ["Waiting to be embedded", count(store.pending)],
      ["The oldest of them", store.oldestPendingAt === undefined ? undefined : `${age(store.oldestPendingAt)} ago`],
      ["Parked", count(store.parked)],
      ["On disk", bytes(store.bytes)],
      ["Model", store.vectorSpace?.model],
      ["Checkpoints", count(store.checkpoints)],
      ["Commits that waited for another process", count(store.busyRetries)],
    ],
    events: ["added", "flushed", "deleted", "forgotten"],
  },
  index: {
    path: "write",
    name: "External index",
    about: "Changes of vectors go there in order, until the index has accepted each.",
    facts: ({ meaning, store }) =>
      meaning?.index === undefined
        ? []
        : [
            ["Name", meaning.index.name],
            ["State", meaning.index.state],
            ["Changes to send", count(store.unsent)],
            ["Refused so far, to be sent again", count(store.unsentFailed)],
            ["Accepted", count(meaning.index.sent)],
            ["Searches", count(meaning.index.searches)],
            ["Searches that failed", count(meaning.index.failures)],
            ["Sending fails", meaning.index.sendError],
            ["Searching fails", meaning.index.searchError],
          ],
    events: ["flushed"],
  },
  answers: {
    path: "read",
    name: "Answers",
    about: "Finished answers, valid until something in their spaces changes.",
    facts: ({ query }) => [
      ["Questions answered", count(query.answers.hits)],
      ["Questions held", `${count(query.answers.entries)} of ${count(query.maxEntries)}`],
      ["Evicted", count(query.answers.evictions)],
      ["Memory of L1", `${bytes(query.bytes)} of ${bytes(query.maxBytes)}`],
      ["Answered without a search, 95 of 100", latency(query.latency.cached)],
      ["Repeated questions without a search", ofAll(query.repeated.hits, query.repeated.questions)],
    ],
    events: [],
  },
  rankings: {
    path: "read",
    name: "Rankings",
    about: "The ranking is known, the page or its order is another: only content is read.",
    facts: ({ query }) => [
      ["Questions answered", count(query.rankings.hits)],
      ["Answered without a search, 95 of 100", latency(query.latency.cached)],
    ],
    events: [],
  },
  victims: {
    path: "read",
    name: "Victims",
    about: "Rankings that L1 evicted. One that is asked for again moves back.",
    facts: ({ query }) => [
      ["Questions answered", count(query.victims.hits)],
      ["Rankings held", count(query.victims.entries)],
      ["Evicted", count(query.victims.evictions)],
    ],
    events: [],
  },
  ahead: {
    path: "read",
    name: "Ahead",
    about: "Answers that the SpeculativeBuffer made before they were asked for.",
    facts: ({ query, speculative }) => [
      ["Questions answered", count(query.ahead.hits)],
      ...(speculative
        ? ([
            ["Answers held", `${count(speculative.entries)} of ${count(speculative.maxSize)}`],
            ["Memory", `${bytes(speculative.bytes)} of ${bytes(speculative.maxBytes)}`],
            ["Sessions that predictors know", count(speculative.sessions)],
          ] as const)
        : []),
    ],
    events: ["prefetched"],
  },
  search: {
    path: "read",
    name: "Search",
    about: "Words and vectors of the store, and the vectors that are in memory alone, in one ranking.",
    facts: ({ query }) => [
      ["Searches of their own", count(query.misses)],
      ["Joined an equal search", count(query.shared)],
      ["With a search, 95 of 100", latency(query.latency.cold)],
      ["Question vectors held", query.embeddings && count(query.embeddings.entries)],
      ["Question vectors found there", query.embeddings && count(query.embeddings.hits)],
      ["Question vectors embedded", query.embeddings && count(query.embeddings.misses)],
    ],
    events: [],
  },
} as const satisfies { readonly [id: string]: PartDetails };

export type PartId = keyof typeof PARTS;

export const isPart = (id: string | undefined): id is PartId => id !== undefined && Object.hasOwn(PARTS, id);
export const partOf = (id: PartId): PartDetails => PARTS[id];

const EVENTS_MAX = 8;

export function Details({ part, stats, sessions }: Held & { readonly part: PartId }) {
  const { change } = usePlace();
  const { name, about, facts, events } = partOf(part);
  const moved = recent.value.filter(({ type }) => events.includes(type)).slice(0, EVENTS_MAX);
  const close = (): void => {
    change({ part: undefined, who: undefined });
    document.getElementById(`part-${part}`)?.focus();
  };
  return (
    <section id={DETAILS_ID} class="details" aria-label={`${name}: details`}>
      <div class="card-head">
        <h3>{name}</h3>
        <Button kind="quiet" small onClick={close}>
          Close
        </Button>
      </div>
      <p class="muted">{about}</p>
      <dl class="details-facts">
        {(facts(stats) as Facts).map(
          ([label, value]) =>
            value !== undefined && (
              <div key={label}>
                <dt class="muted small">{label}</dt>
                <dd class="number">{value}</dd>
              </div>
            ),
        )}
      </dl>
      {part === "round" && <RoundSessions sessions={sessions} />}
      {part === "hybrid" && <HybridSessions sessions={sessions} />}
      {events.length > 0 && <Moved events={moved} />}
    </section>
  );
}

function Moved({ events }: { readonly events: readonly LiveEvent[] }) {
  return (
    <div>
      <h4>Since this page was opened</h4>
      {events.length === 0 && <p class="muted">Nothing moved yet.</p>}
      <ol class="lines">
        {events.map((event, at) => (
          <li key={`${event.at} ${events.length - at}`}>
            <span>{words(event)}</span>
            <span class="muted small">{"space" in event && <StoredSpace space={event.space} />}</span>
            <time class="muted small" dateTime={new Date(event.at).toISOString()} title={moment(event.at)}>
              {age(event.at)} ago
            </time>
          </li>
        ))}
      </ol>
    </div>
  );
}

/** The reasons that occurred, each with its count. */
function triggers(label: string, counts: { readonly [reason: string]: number }): Facts {
  const given = Object.entries(counts).filter(([, times]) => times > 0);
  const told = given.map(([reason, times]) => `${reason} ${count(times)}`).join(", ");
  return [[`${label}, by reason`, told === "" ? "never" : told]];
}

const latency = ({ count: samples, p95 }: { readonly count: number; readonly p95: number }): string =>
  samples === 0 ? "no data" : ms(p95);

const ofAll = (part: number, all: number): string =>
  all === 0 ? "no data" : `${Math.round((100 * part) / all)} % of ${count(all)}`;
