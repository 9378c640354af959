/**
 * All metrics: name, meaning, source. Units are seconds and bytes. No label contains the name of a user, agent, team or
 * session: there may be very many, and permission to read metrics does not include names.
 */
import { COMPONENT_STATES } from "../buffers/components.js";
import { CONDITIONS } from "../buffers/health.js";
import type { PredictorStats } from "../buffers/speculative/track-record.js";
import {
  counter,
  counters,
  gauge,
  gauges,
  type LatencyDefinition,
  type NumberDefinition,
  state,
} from "./definition.js";
import { modelStateOf } from "./model-state.js";
import type { Sample } from "./sample.js";

const INDICATORS = {
  transfer_rate: "transferRate",
  memory: "memory",
  query_latency: "queryLatency",
  cache_hit_rate: "cacheHitRate",
} as const;
const MS = 1000;

const WRITE = [
  counter(
    "write_buffer_writes_total",
    "Units written; each is all or nothing.",
    ({ stats }) => stats?.write.totalWrites,
  ),
  counter(
    "write_buffer_messages_total",
    "Messages and other items written.",
    ({ stats }) => stats?.write.totalMessages,
  ),
  counter("write_buffer_groups_total", "Group commits.", ({ stats }) => stats?.write.totalGroups),
  gauge("write_buffer_waiting_writes", "Calls waiting for their commit.", ({ stats }) => stats?.write.waitingWrites),
  gauge("write_buffer_waiting_bytes", "Bytes of the waiting calls.", ({ stats }) => stats?.write.waitingBytes),
  counter(
    "write_buffer_refused_total",
    "Calls refused because the buffer stayed full.",
    ({ stats }) => stats?.write.refused,
  ),
  counter(
    "write_buffer_recoveries_total",
    "Commits of unknown outcome that were resolved.",
    ({ stats }) => stats?.write.recoveries,
  ),
  state(
    "write_buffer_state",
    "State of the WriteBuffer: 1 for the current state.",
    ["ok", "recovering", "failed", "closed"],
    ({ stats }) => stats?.write.health,
  ),
];

const ROUND = [
  gauge("round_buffer_sessions", "Sessions with items to embed.", ({ stats }) => stats?.meaning?.round.sessions),
  gauge(
    "round_buffer_rounds",
    "Rounds added by this process that wait for a batch.",
    ({ stats }) => stats?.meaning?.round.rounds,
  ),
  gauge(
    "round_buffer_tokens",
    "Upper bound of the tokens gathered, as last counted; 0 with `eager`.",
    ({ stats }) => stats?.meaning?.round.tokens,
  ),
  counters(
    "round_buffer_transfers_total",
    "Batches transferred from RoundBuffer to HybridBuffer, by trigger.",
    "reason",
    ({ stats }) => stats?.meaning?.round.transferTriggers,
  ),
];

const HYBRID = [
  gauge(
    "hybrid_buffer_chunks",
    "Chunks embedded and not yet written.",
    ({ stats }) => stats?.meaning?.hybrid.chunkCount,
  ),
  gauge("hybrid_buffer_items", "Items embedded and not yet written.", ({ stats }) => stats?.meaning?.hybrid.itemCount),
  gauge(
    "hybrid_buffer_rounds",
    "Rounds embedded and not yet written.",
    ({ stats }) => stats?.meaning?.hybrid.roundCount,
  ),
  gauge("hybrid_buffer_bytes", "Bytes of their vectors.", ({ stats }) => stats?.meaning?.hybrid.bytes),
  counters(
    "hybrid_buffer_flushes_total",
    "Flushes from HybridBuffer to the store, by trigger.",
    "reason",
    ({ stats }) => stats?.meaning?.hybrid.flushTriggers,
  ),
  counter(
    "hybrid_buffer_written_items_total",
    "Items whose vectors were written.",
    ({ stats }) => stats?.meaning?.hybrid.itemsWritten,
  ),
  counter(
    "hybrid_buffer_dropped_items_total",
    "Items embedded, but edited, forgotten or taken over before their vectors were written.",
    ({ stats }) => stats?.meaning?.hybrid.itemsDropped,
  ),
  counter(
    "hybrid_buffer_parked_items_total",
    "Items that could not be embedded.",
    ({ stats }) => stats?.meaning?.hybrid.itemsParked,
  ),
  gauge("leases", "Sessions leased by this process for embedding.", ({ stats }) => stats?.meaning?.leases),
];

const QUERY = [
  counter("queries_total", "Queries answered.", ({ stats }) => stats?.query.queries),
  counters("hits_total", "Hits returned, by the level that found them.", "level", ({ stats }) => stats?.query.levels),
  counters(
    "cache_hits_total",
    "Cache hits. answers: finished answers · rankings: content read again · victims: rankings evicted from L1 · ahead: answers made ahead of time · questions: query vectors · mirrors: vectors of spaces.",
    "cache",
    ({ stats, mirrors }) => ({
      answers: stats?.query.answers.hits,
      rankings: stats?.query.rankings.hits,
      victims: stats?.query.victims.hits,
      ahead: stats?.speculative && stats.query.ahead.hits,
      questions: stats?.query.embeddings?.hits,
      mirrors: mirrors?.hits,
    }),
  ),
  counters(
    "cache_misses_total",
    "Cache misses. answers: searches, own or shared · questions: embeddings, own or shared · mirrors: loads.",
    "cache",
    ({ stats, mirrors }) => ({
      answers: stats && stats.query.misses + stats.query.shared,
      questions: stats?.query.embeddings && stats.query.embeddings.misses + stats.query.embeddings.shared,
      mirrors: mirrors?.loads,
    }),
  ),
  counters("cache_evictions_total", "Cache evictions.", "cache", ({ stats, mirrors }) => ({
    answers: stats?.query.answers.evictions,
    victims: stats?.query.victims.evictions,
    questions: stats?.query.embeddings?.evictions,
    mirrors: mirrors?.evictions,
  })),
  gauges("cache_entries", "Cache entries. mirrors: spaces.", "cache", ({ stats, mirrors }) => ({
    answers: stats?.query.answers.entries,
    victims: stats?.query.victims.entries,
    ahead: stats?.speculative?.entries,
    questions: stats?.query.embeddings?.entries,
    mirrors: mirrors?.spaces,
  })),
  gauges("cache_bytes", "Cache size. answers: includes victims.", "cache", ({ stats, mirrors }) => ({
    answers: stats?.query.bytes,
    ahead: stats?.speculative?.bytes,
    questions: stats?.query.embeddings?.bytes,
    mirrors: mirrors?.bytes,
  })),
];

/** One value of each predictor of the SpeculativeBuffer. */
const ofPredictors =
  (value: (stats: PredictorStats) => number) =>
  ({ stats }: Sample): { readonly [predictor: string]: number } =>
    Object.fromEntries(
      Object.entries(stats?.speculative?.predictors ?? {}).map(([name, predictor]) => [name, value(predictor)]),
    );

const SPECULATION = [
  counters(
    "prefetch_issued_total",
    "Searches made ahead of time.",
    "predictor",
    ofPredictors(({ issued }) => issued),
  ),
  counters(
    "prefetch_served_total",
    "Questions answered from a search made ahead of time.",
    "predictor",
    ofPredictors(({ served }) => served),
  ),
  counters(
    "prefetch_late_total",
    "Questions that came before their answer was ready.",
    "predictor",
    ofPredictors(({ late }) => late),
  ),
  counters(
    "prefetch_wasted_total",
    "Searches made ahead of time whose answers were dropped.",
    "predictor",
    ofPredictors(({ wasted }) => wasted),
  ),
  counters(
    "prefetch_saved_seconds_total",
    "Duration of the searches that questions did not wait for.",
    "predictor",
    ofPredictors(({ savedMs }) => savedMs / MS),
  ),
  gauges(
    "prefetch_usefulness",
    "Share of guesses that came true, weighted towards the newest. Below 0.5 nothing is searched.",
    "predictor",
    ofPredictors(({ usefulness }) => usefulness),
  ),
];

const QUEUE = [
  gauge("pending_items", "Items in the store waiting to be embedded.", ({ stats }) => stats?.store.pending),
  gauge(
    "oldest_pending_age_seconds",
    "Age of the oldest pending item since it was added or last edited; 0 if none.",
    ({ stats, now }) => stats && Math.max(now - (stats.store.oldestPendingAt ?? now), 0) / MS,
  ),
  gauge("parked_items", "Items set aside because they could not be embedded.", ({ stats }) => stats?.store.parked),
  gauge("embedded_items", "Items with vectors in the store.", ({ stats }) => stats?.store.embedded),
  gauge("chunks", "Vectors in the store.", ({ stats }) => stats?.store.chunks),
  gauge("outbox_rows", "Changes that an external index has yet to acknowledge.", ({ stats }) => stats?.store.unsent),
  gauge(
    "outbox_failed_rows",
    "Outbox rows that the external index has refused before.",
    ({ stats }) => stats?.store.unsentFailed,
  ),
  counter(
    "outbox_sent_total",
    "Changes that the external index has acknowledged.",
    ({ stats }) => stats?.meaning?.index?.sent,
  ),
];

const STORE = [
  gauge("store_bytes", "Bytes on disk, including the log.", ({ stats }) => stats?.store.bytes),
  gauge("store_items", "Items in all spaces.", ({ stats }) => stats?.store.items),
  counter("store_checkpoints_total", "Checkpoints of the log.", ({ stats }) => stats?.store.checkpoints),
  counter(
    "store_busy_retries_total",
    "Commits that waited for another process.",
    ({ stats }) => stats?.store.busyRetries,
  ),
  counter(
    "store_busy_seconds_total",
    "Total time that commits waited for another process.",
    ({ stats }) => stats && stats.store.busyMs / MS,
  ),
];

const EMBEDDER = [
  state(
    "embedder_state",
    "State of the embedding model: 1 for the current state.",
    ["none", "not loaded", "loaded", "failing"],
    ({ stats }) => stats && modelStateOf(stats),
  ),
  state(
    "embedder_circuit",
    "State of the embedder's circuit breaker: 1 for the current state.",
    ["closed", "open", "half-open"],
    ({ stats }) => stats?.meaning?.embedder.circuit,
  ),
  counter("embedder_calls_total", "Calls to the embedder.", ({ stats }) => stats?.meaning?.embedder.calls),
  counter(
    "embedder_failed_calls_total",
    "Calls to the embedder that failed.",
    ({ stats }) => stats?.meaning?.embedder.failedCalls,
  ),
  counter("embedder_texts_total", "Texts embedded.", ({ stats }) => stats?.meaning?.embedder.texts),
];

const HEALTH: readonly NumberDefinition[] = [
  gauge("up", "1 if the statistics of the memory could be read.", ({ stats }) => (stats ? 1 : 0)),
  {
    type: "gauge",
    name: "holdfast_health",
    help: "The four health indicators: 1 for the current condition.",
    labelNames: ["indicator", "condition"],
    read: ({ stats }) =>
      Object.entries(INDICATORS).flatMap(([indicator, key]) =>
        stats
          ? CONDITIONS.map((condition) => ({
              labels: { indicator, condition },
              value: stats.health[key].condition === condition ? 1 : 0,
            }))
          : [],
      ),
  },
  {
    type: "gauge",
    name: "holdfast_component_state",
    help: "State of each component: 1 for the current state.",
    labelNames: ["component", "state"],
    read: ({ stats }) =>
      Object.entries(stats?.health.components ?? {}).flatMap(([component, current]) =>
        COMPONENT_STATES.map((state) => ({ labels: { component, state }, value: state === current.state ? 1 : 0 })),
      ),
  },
  gauge("memory_short", "1 while the process is short of memory and caches are kept small.", ({ stats }) =>
    stats ? Number(stats.process.isShort) : undefined,
  ),
  counter(
    "memory_shortages_total",
    "Times the process became short of memory.",
    ({ stats }) => stats?.process.shortages,
  ),
  gauge(
    "transfers_per_minute",
    "Batches transferred in the last minute.",
    ({ stats }) => stats?.health.transferRate.value,
  ),
  gauge("buffer_memory_bytes", "Bytes held by all buffers.", ({ stats }) => stats?.health.memory.value),
  gauge(
    "cache_hit_ratio",
    "Share of repeated queries answered without a search.",
    ({ stats }) => stats?.health.cacheHitRate.value,
  ),
  gauges("event_loop_delay_seconds", "Event loop delay since the last scrape.", "quantile", ({ delay }) => ({
    "0.5": delay.p50,
    "0.99": delay.p99,
    "1": delay.max,
  })),
];

export const NUMBERS: readonly NumberDefinition[] = [
  ...HEALTH,
  ...WRITE,
  ...ROUND,
  ...HYBRID,
  ...QUERY,
  ...SPECULATION,
  ...QUEUE,
  ...STORE,
  ...EMBEDDER,
];

export const LATENCIES: readonly LatencyDefinition[] = [
  {
    type: "summary",
    name: "holdfast_searchable_seconds",
    help: "Time from a write until it is searchable. words: from call to acknowledgement · meaning: from commit until embedded.",
    labelNames: ["by"],
    read: ({ stats }) =>
      stats
        ? [
            { labels: { by: "words" }, latency: stats.latencies.add },
            { labels: { by: "meaning" }, latency: stats.latencies.meaning },
          ]
        : [],
  },
  {
    type: "summary",
    name: "holdfast_transfer_seconds",
    help: "Transfers from RoundBuffer to HybridBuffer, including embedding.",
    labelNames: [],
    read: ({ stats }) => (stats ? [{ labels: {}, latency: stats.latencies.transfer }] : []),
  },
  {
    type: "summary",
    name: "holdfast_flush_seconds",
    help: "Flushes from HybridBuffer to the store.",
    labelNames: [],
    read: ({ stats }) => (stats ? [{ labels: {}, latency: stats.latencies.flush }] : []),
  },
  {
    type: "summary",
    name: "holdfast_context_seconds",
    help: "Contexts, from the call to the assembled text.",
    labelNames: [],
    read: ({ stats }) => (stats ? [{ labels: {}, latency: stats.latencies.context }] : []),
  },
  {
    type: "summary",
    name: "holdfast_query_seconds",
    help: "Queries. cached: without a search · cold: with a search, own or shared.",
    labelNames: ["answered"],
    read: ({ stats }) =>
      stats
        ? [
            { labels: { answered: "cached" }, latency: stats.query.latency.cached },
            { labels: { answered: "cold" }, latency: stats.query.latency.cold },
          ]
        : [],
  },
];
