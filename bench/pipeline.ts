/**
 * The whole pipeline: from the first add until every message is embedded and its vectors are written. Runs in the process of a
 * trial.
 */
import { type Memory, openMemory, type ServiceStats, type Session } from "holdfast";
import { sessionsOf } from "./audience.js";
import type { Line } from "./data.js";
import { type MadeEmbedder, makeEmbedder } from "./embedders.js";
import { type LoopDelay, withLoopDelay } from "./holdfast.js";
import { type Latency, latency, Timings } from "./timings.js";
import type { PipelineTrial, Way } from "./trial.js";

const BATCH = 100;
/** This share of the messages is written first and not counted, to warm up code and caches. A model needs less. */
const WARM_UP = { free: 1, node: 0.1, web: 0.1, remote: 0.1 } as const;

export interface PipelineReport {
  readonly messages: number;
  /** Warm-up messages; they count for the resident bytes only. */
  readonly warmUp: number;
  readonly messagesPerSecond: number;
  /** Embedded chunks per message. */
  readonly textsPerMessage: number;
  /** Milliseconds per call: durable and searchable by words. */
  readonly call: Latency;
  readonly loopDelay: LoopDelay;
  readonly cpuSeconds: number;
  /** Milliseconds until the model was loaded, or the server had answered once. */
  readonly loadMs: number;
  /** Resident bytes. */
  readonly rss: Rss;
  readonly perThousand: PerThousand;
}

export interface Rss {
  readonly start: number;
  readonly open: number;
  readonly loaded: number;
  readonly end: number;
  readonly peak: number;
}

/** Per 1,000 messages. */
export interface PerThousand {
  /** Of messages and words, and of what follows: leases and vectors. */
  readonly transactions: { readonly messages: number; readonly vectors: number };
  readonly embeddingCalls: number;
  /** Undefined for a local embedder. */
  readonly requests?: number;
}

export async function measurePipeline(
  { embedder, buffers, way }: PipelineTrial,
  path: string,
  lines: readonly Line[],
  start: number,
): Promise<PipelineReport> {
  const made = await makeEmbedder(embedder);
  const memory = await openMemory({ path, embedder: made.embedder, buffer: { enabled: buffers } });
  const open = process.memoryUsage.rss();
  const loading = performance.now();
  await made.embedder.embed(["ready"]);
  const loadMs = performance.now() - loading;
  const loaded = process.memoryUsage.rss();

  const warmUp = lines.slice(0, Math.ceil(lines.length * WARM_UP[embedder]));
  await run(memory, way, warmUp);
  const before = await countsOf(memory, made);
  const cpuBefore = process.cpuUsage();
  const [timings, loopDelay] = await withLoopDelay(() => run(memory, way, lines));
  const { user, system } = process.cpuUsage(cpuBefore);
  const after = await countsOf(memory, made);
  const rss = { start, open, loaded, end: process.memoryUsage.rss(), peak: process.resourceUsage().maxRSS * 1024 };
  await memory.close();
  await made.close();

  const per = (name: keyof Counts): number => (after[name] - before[name]) / (lines.length / 1000);
  return {
    messages: lines.length,
    warmUp: warmUp.length,
    messagesPerSecond: timings.perSecond,
    textsPerMessage: per("texts") / 1000,
    call: latency(timings.calls),
    loopDelay,
    cpuSeconds: (user + system) / 1e6,
    loadMs,
    rss,
    perThousand: {
      transactions: { messages: per("groups"), vectors: per("transactions") },
      embeddingCalls: per("calls"),
      ...(made.requests() !== undefined && { requests: per("requests") }),
    },
  };
}

/** The total time is until everything is written; the calls are the adds. */
async function run(memory: Memory, way: Way, lines: readonly Line[]): Promise<Timings> {
  const sessions = sessionsOf(memory);
  const timings = new Timings();
  if (way === "batch") await addBatches(sessions, lines, timings);
  else await addByCallers(sessions, way, lines, timings);
  await memory.flush();
  timings.end();
  const { store } = await memory.stats();
  if (store.pending + store.parked > 0)
    throw new Error(`${store.pending} pending and ${store.parked} parked items left`);
  return timings;
}

/** Each caller takes the next line when its previous call has returned. */
async function addByCallers(
  sessions: readonly Session[],
  callers: number,
  lines: readonly Line[],
  timings: Timings,
): Promise<void> {
  let next = 0;
  const call = async (): Promise<void> => {
    for (let at = next++; at < lines.length; at = next++) {
      const started = performance.now();
      await sessions[at % sessions.length]?.add([(lines[at] as Line).message]);
      timings.add(performance.now() - started, 1);
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
}

async function addBatches(sessions: readonly Session[], lines: readonly Line[], timings: Timings): Promise<void> {
  for (let at = 0; at < lines.length; at += BATCH) {
    const rounds = lines.slice(at, at + BATCH).map(({ message }) => [message]);
    const started = performance.now();
    await sessions[(at / BATCH) % sessions.length]?.addBatch(rounds);
    timings.add(performance.now() - started, rounds.length);
  }
}

interface Counts {
  readonly groups: number;
  readonly transactions: number;
  readonly calls: number;
  readonly texts: number;
  readonly requests: number;
}

async function countsOf(memory: Memory, { requests }: MadeEmbedder): Promise<Counts> {
  const { write, meaning }: ServiceStats = await memory.stats();
  return {
    groups: write.totalGroups,
    transactions: meaning?.transactions ?? 0,
    calls: meaning?.embedder.calls ?? 0,
    texts: meaning?.embedder.texts ?? 0,
    requests: requests() ?? 0,
  };
}
