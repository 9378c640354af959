/**
 * The process that opens a file with a backlog, works it off and measures. It reports to its parent.
 *
 * Arguments: the path of the file.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { openMemory } from "holdfast";
import type { HashEmbedder, HashEmbedderOptions } from "holdfast/testing";
import { loadProduct } from "./product.js";

/** Number of first embedded messages that are checked: they should be the newest ones. */
export const FIRST = 1_000;

export interface BacklogReport {
  readonly openMs: number;
  /** Resident bytes with the library and the embedder loaded, when open, at the peak, and when all is embedded. */
  readonly rssBefore: number;
  readonly rssOpen: number;
  readonly rssPeak: number;
  readonly rssAfter: number;
  readonly ratePerSecond: number;
  /** How many of the first messages are among the newest. */
  readonly firstNewest: number;
  readonly loopP99Ms: number;
}

type HashEmbedderClass = new (options?: HashEmbedderOptions) => HashEmbedder;

/** Imported by path, because the public entry "holdfast/testing" needs vitest. */
export async function loadHashEmbedder(): Promise<HashEmbedderClass> {
  const url = new URL("../../build/lib/testing/hash-embedder.js", import.meta.url).href;
  return ((await import(url)) as { readonly HashEmbedder: HashEmbedderClass }).HashEmbedder;
}

async function run(path: string): Promise<BacklogReport> {
  const embedder = new (await loadHashEmbedder())();
  await embedder.embed(["warm"]);
  const openedAt = await lastCommit(path);
  const rssBefore = process.memoryUsage.rss();
  const started = performance.now();
  const memory = await openMemory({ path, embedder });
  const openMs = performance.now() - started;
  const rssOpen = process.memoryUsage.rss();
  const { store } = await memory.stats();
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const { rssPeak, seconds } = await caughtUp(() => memory.service.buffers.hybrid?.itemsWritten ?? 0, store.pending);
  delay.disable();
  const rssAfter = process.memoryUsage.rss();
  await memory.close();
  return {
    openMs,
    rssBefore,
    rssOpen,
    rssPeak: Math.max(rssPeak, rssOpen),
    rssAfter,
    ratePerSecond: store.pending / seconds,
    firstNewest: await firstNewest(path, openedAt),
    loopP99Ms: delay.percentile(99) / 1e6,
  };
}

/** Polls the process until this many items are written. */
function caughtUp(written: () => number, waiting: number): Promise<{ rssPeak: number; seconds: number }> {
  const started = performance.now();
  let rssPeak = 0;
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      rssPeak = Math.max(rssPeak, process.memoryUsage.rss());
      if (written() < waiting) return;
      clearInterval(timer);
      resolve({ rssPeak, seconds: (performance.now() - started) / 1000 });
    }, 10);
  });
}

async function lastCommit(path: string): Promise<number> {
  const database = (await loadProduct()).connect(path, "reader");
  const { commit_no: last } = database.prepare("SELECT commit_no FROM head").get() ?? {};
  database.close();
  return Number(last);
}

/** Vectors carry the number of the commit that wrote them. */
async function firstNewest(path: string, openedAt: number): Promise<number> {
  const database = (await loadProduct()).connect(path, "reader");
  const newest = Number(database.prepare("SELECT max(key) AS key FROM item").get()?.["key"]);
  const first = database
    .prepare("SELECT item FROM vector_1 WHERE commit_no > ? ORDER BY commit_no, item DESC LIMIT ?")
    .all(openedAt, FIRST);
  database.close();
  return first.filter((row) => Number(row["item"]) > newest - FIRST).length;
}

if (process.argv[1]?.endsWith("backlog-trial.js")) {
  const report = await run(process.argv[2] as string);
  process.send?.(report, () => process.disconnect());
}
