/** What one scrape reads from a memory, once for all metrics. */
import { HoldfastError } from "../errors.js";
import type { Memory } from "../memory.js";
import type { ServiceStats } from "../stats.js";
import type { MirrorStats } from "../stores/indexing.js";
import type { Delay } from "./event-loop.js";

export interface Sample {
  /** Undefined if the memory is closed or its store fails; the other fields are still reported. */
  readonly stats?: ServiceStats;
  readonly mirrors?: MirrorStats;
  /** Event loop delay since the last scrape. */
  readonly delay: Delay;
  readonly now: number;
}

export async function sampleOf(memory: Memory, delay: Delay): Promise<Sample> {
  const { clock, store } = memory.service;
  try {
    const [stats, mirrors] = await Promise.all([memory.stats(), store.mirrors?.()]);
    return { stats, ...(mirrors && { mirrors }), delay, now: clock.now() };
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    return { delay, now: clock.now() };
  }
}
