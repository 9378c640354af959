/**
 * The process that opens the file of a backlog and works it off, measured. Its parent gets the report.
 *
 * Arguments: the path of the file.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { openMemory } from "holdfast";
import type { HashEmbedder, HashEmbedderOptions } from "holdfast/testing";
import { loadProduct } from "./product.js";

/** So many of the first messages that were embedded are looked at: they should be the newest ones. */
export const FIRST = 1_000;

export interface BacklogReport {
  readonly openMs: number;
  /** Resident bytes with the library and the embedder loaded, when open, at most until all was embedded, and then. */
  readonly rssBefore: number;
  readonly rssOpen: number;
  readonly rssPeak: number;
  readonly rssAfter: number;
  readonly ratePerSecond: number;
  /** How many of the first ones are among as many newest ones. */
  readonly firstNewest: number;
  readonly loopP99Ms: number;
}

type HashEmbedderClass = new (options?: HashEmbedderOptions) => HashEmbedder;

/** By its path: the public door to it, "holdfast/testing", needs vitest. */
export async function loadHashEmbedder(): Promise<HashEmbedderClass> {
  const url = new URL("../../dist/testing/hash-embedder.js", import.meta.url).href;
  return ((await import(url)) as { readonly HashEmbedder: HashEmbedderClass }).HashEmbedder;
}

async function run(path: string): Promise<BacklogReport> {
  const embedder = new (await loadHashEmbedder())();
  await embedder.embed(["warm"]);
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
    firstNewest: await firstNewest(path, store.commit),
    loopP99Ms: delay.percentile(99) / 1e6,
  };
}

/** Looks at the process every few milliseconds until so many items are written. */
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
