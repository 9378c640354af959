/**
 * Every metric: its name, what it means, and where its numbers come from. Units are seconds and bytes. No label names a
 * user, an agent, a team or a session: there may be very many of them, and whoever may see numbers may not see names.
 */
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

const CONDITIONS = ["healthy", "idle", "warning", "alert", "no data"] as const;
const INDICATORS = {
  transfer_rate: "transferRate",
  memory: "memory",
  query_latency: "queryLatency",
  cache_hit_rate: "cacheHitRate",
} as const;
const MS = 1000;

const WRITE = [
  counter("write_buffer_writes_total", "Units written: all or nothing each.", ({ stats }) => stats?.write.totalWrites),
  counter(
    "write_buffer_messages_total",
    "Messages and other items in them.",
    ({ stats }) => stats?.write.totalMessages,
  ),
  counter("write_buffer_groups_total", "Group commits that wrote them.", ({ stats }) => stats?.write.totalGroups),
  gauge("write_buffer_waiting_writes", "Calls that wait for their commit.", ({ stats }) => stats?.write.waitingWrites),
  gauge("write_buffer_waiting_bytes", "What they weigh.", ({ stats }) => stats?.write.waitingBytes),
  counter(
    "write_buffer_refused_total",
    "Calls refused because the buffer stayed full.",
    ({ stats }) => stats?.write.refused,
  ),
  counter(
    "write_buffer_recoveries_total",
    "Commits of unknown outcome that were cleared up.",
    ({ stats }) => stats?.write.recoveries,
  ),
  state(
    "write_buffer_state",
    "Whether the WriteBuffer takes writes: 1 for the state it is in.",
    ["ok", "recovering", "failed", "closed"],
    ({ stats }) => stats?.write.health,
  ),
];

const ROUND = [
  gauge("round_buffer_sessions", "Sessions with something to embed.", ({ stats }) => stats?.meaning?.round.sessions),
  gauge("round_buffer_rounds", "Rounds added here that wait for a batch.", ({ stats }) => stats?.meaning?.round.rounds),
  gauge(
    "round_buffer_tokens",
    "Tokens gathered at the last look, at most; with `eager` nothing gathers.",
    ({ stats }) => stats?.meaning?.round.tokens,
  ),
  counters(
    "round_buffer_transfers_total",
    "Batches transferred from RoundBuffer to HybridBuffer, by what made them due.",
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
  gauge("hybrid_buffer_bytes", "What their vectors weigh.", ({ stats }) => stats?.meaning?.hybrid.bytes),
  counters(
    "hybrid_buffer_flushes_total",
    "Flushes from HybridBuffer to the store, by what made them due.",
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
    "Items embedded, but edited, forgotten or taken over before they were written.",
    ({ stats }) => stats?.meaning?.hybrid.itemsDropped,
  ),
  counter(
    "hybrid_buffer_parked_items_total",
    "Items that could not be embedded.",
    ({ stats }) => stats?.meaning?.hybrid.itemsParked,
  ),
  gauge("leases", "Sessions that this process embeds.", ({ stats }) => stats?.meaning?.leases),
];

const QUERY = [
  counter("queries_total", "Questions answered.", ({ stats }) => stats?.query.queries),
  counters("hits_total", "Items found, by the level that found them.", "level", ({ stats }) => stats?.query.levels),
  counters(
    "cache_hits_total",
    "What was found in a cache. answers: finished · rankings: content read anew · victims: rankings without room in L1 · questions: their vectors · mirrors: vectors of spaces.",
    "cache",
    ({ stats, mirrors }) => ({
      answers: stats?.query.answers.hits,
      rankings: stats?.query.rankings.hits,
      victims: stats?.query.victims.hits,
      questions: stats?.query.embeddings?.hits,
      mirrors: mirrors?.hits,
    }),
  ),
  counters(
    "cache_misses_total",
    "What was not. answers: searches, own or shared · questions: embeddings, own or shared · mirrors: loads.",
    "cache",
    ({ stats, mirrors }) => ({
      answers: stats && stats.query.misses + stats.query.shared,
      questions: stats?.query.embeddings && stats.query.embeddings.misses + stats.query.embeddings.shared,
      mirrors: mirrors?.loads,
    }),
  ),
  counters("cache_evictions_total", "What went for want of room.", "cache", ({ stats, mirrors }) => ({
    answers: stats?.query.answers.evictions,
    victims: stats?.query.victims.evictions,
    questions: stats?.query.embeddings?.evictions,
    mirrors: mirrors?.evictions,
  })),
  gauges("cache_entries", "What is kept. mirrors: spaces.", "cache", ({ stats, mirrors }) => ({
    answers: stats?.query.answers.entries,
    victims: stats?.query.victims.entries,
    questions: stats?.query.embeddings?.entries,
    mirrors: mirrors?.spaces,
  })),
  gauges("cache_bytes", "What it weighs. answers: victims included.", "cache", ({ stats, mirrors }) => ({
    answers: stats?.query.bytes,
    questions: stats?.query.embeddings?.bytes,
    mirrors: mirrors?.bytes,
  })),
];

const QUEUE = [
  gauge("pending_items", "Items in the store that wait to be embedded.", ({ stats }) => stats?.store.pending),
  gauge(
    "oldest_pending_age_seconds",
    "How long ago the oldest of them was added or last edited; 0 if none waits.",
    ({ stats, now }) => stats && Math.max(now - (stats.store.oldestPendingAt ?? now), 0) / MS,
  ),
  gauge("parked_items", "Items set aside because they could not be embedded.", ({ stats }) => stats?.store.parked),
  gauge("embedded_items", "Items with vectors in the store.", ({ stats }) => stats?.store.embedded),
  gauge("chunks", "Vectors in the store.", ({ stats }) => stats?.store.chunks),
  gauge("outbox_rows", "Changes that an external index has yet to acknowledge.", ({ stats }) => stats?.store.unsent),
  gauge("outbox_failed_rows", "Those of them that it has refused before.", ({ stats }) => stats?.store.unsentFailed),
  counter("outbox_sent_total", "Changes that it has acknowledged.", ({ stats }) => stats?.meaning?.index?.sent),
];

const STORE = [
  gauge("store_bytes", "Bytes on the medium, log included.", ({ stats }) => stats?.store.bytes),
  gauge("store_items", "Items of all spaces.", ({ stats }) => stats?.store.items),
  counter(
    "store_commits_total",
    "The number of the last commit, of whichever process.",
    ({ stats }) => stats?.store.commit,
  ),
  counter("store_checkpoints_total", "Checkpoints of the log.", ({ stats }) => stats?.store.checkpoints),
  counter(
    "store_busy_retries_total",
    "How often a commit waited for another process.",
    ({ stats }) => stats?.store.busyRetries,
  ),
  counter("store_busy_seconds_total", "For how long in all.", ({ stats }) => stats && stats.store.busyMs / MS),
];

const EMBEDDER = [
  state(
    "embedder_state",
    "The embedding model: 1 for the state it is in.",
    ["none", "not loaded", "loaded", "failing"],
    ({ stats }) => stats && modelStateOf(stats),
  ),
  state(
    "embedder_circuit",
    "Its circuit breaker: 1 for the state it is in.",
    ["closed", "open", "half-open"],
    ({ stats }) => stats?.meaning?.embedder.circuit,
  ),
  counter("embedder_calls_total", "Calls of the embedder.", ({ stats }) => stats?.meaning?.embedder.calls),
  counter("embedder_failed_calls_total", "Those that failed.", ({ stats }) => stats?.meaning?.embedder.failedCalls),
  counter("embedder_texts_total", "Texts embedded.", ({ stats }) => stats?.meaning?.embedder.texts),
];

const HEALTH: readonly NumberDefinition[] = [
  gauge("up", "1 if the memory could be asked for its numbers.", ({ stats }) => (stats ? 1 : 0)),
  {
    type: "gauge",
    name: "holdfast_health",
    help: "The four indicators of health: 1 for the condition that holds.",
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
  gauge(
    "transfers_per_minute",
    "Batches transferred in the last minute.",
    ({ stats }) => stats?.health.transferRate.value,
  ),
  gauge("buffer_memory_bytes", "What all buffers hold together.", ({ stats }) => stats?.health.memory.value),
  gauge(
    "cache_hit_ratio",
    "Of repeated questions, those that needed no search.",
    ({ stats }) => stats?.health.cacheHitRate.value,
  ),
  gauges("event_loop_delay_seconds", "How late the event loop was since the last scrape.", "quantile", ({ delay }) => ({
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
  ...QUEUE,
  ...STORE,
  ...EMBEDDER,
];

export const LATENCIES: readonly LatencyDefinition[] = [
  {
    type: "summary",
    name: "holdfast_searchable_seconds",
    help: "From a write until it is found. words: from the call to its answer · meaning: from its commit until it is embedded.",
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
    help: "RoundBuffer to HybridBuffer, embedding included.",
    labelNames: [],
    read: ({ stats }) => (stats ? [{ labels: {}, latency: stats.latencies.transfer }] : []),
  },
  {
    type: "summary",
    name: "holdfast_flush_seconds",
    help: "HybridBuffer to the store.",
    labelNames: [],
    read: ({ stats }) => (stats ? [{ labels: {}, latency: stats.latencies.flush }] : []),
  },
  {
    type: "summary",
    name: "holdfast_query_seconds",
    help: "Questions. cached: without a search · cold: with one, own or shared.",
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
