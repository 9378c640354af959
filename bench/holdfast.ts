/** The Holdfast side: the same messages, through the public API. */
import { statSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { type Memory, type OpenOptions, openMemory, type Session } from "holdfast";
import { AGENT, type Line } from "./data.js";
import type { Mode } from "./mode.js";
import type { Workplace } from "./place.js";
import { Timings } from "./timings.js";

/** Milliseconds between two turns of the event loop, as a 1 ms timer measures them; includes that millisecond. */
export interface LoopDelay {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

const WORDS_ONLY = { buffer: { hybridBuffer: { embeddingModel: "none" } } };

/** A memory that grows from call to call. */
export class Holdfast {
  readonly path: string;
  readonly memory: Memory;
  readonly #sessions = new Map<string, Session>();

  private constructor(path: string, memory: Memory) {
    this.path = path;
    this.memory = memory;
  }

  /** Without an embedding model, unless the options say otherwise. */
  static async open(place: Workplace, options: OpenOptions = WORDS_ONLY): Promise<Holdfast> {
    const path = place.newPath("holdfast");
    return new Holdfast(path, await openMemory({ ...options, path }));
  }

  session(conversation: string): Session {
    let session = this.#sessions.get(conversation);
    if (!session) {
      session = this.memory.session({ user: conversation, agent: AGENT, session: conversation });
      this.#sessions.set(conversation, session);
    }
    return session;
  }

  /** Writes the groups in the given mode and times each call. Resolves after the last call. */
  async run(mode: Mode, groups: readonly (readonly Line[])[]): Promise<Timings> {
    const timings = new Timings();
    if (mode === "batch") for (const group of groups) await this.addBatch(group, timings);
    else {
      const callers = Array.from({ length: groups[0]?.length ?? 0 }, async (_, caller) => {
        for (const group of groups) if (group[caller]) await this.add(group[caller], timings);
      });
      await Promise.all(callers);
    }
    timings.end();
    return timings;
  }

  async add({ conversation, message }: Line, timings: Timings): Promise<void> {
    const session = this.session(conversation);
    const started = performance.now();
    await session.add([message]);
    timings.add(performance.now() - started, 1);
  }

  /** One session, one message per round. */
  async addBatch(lines: readonly Line[], timings: Timings): Promise<void> {
    const session = this.session(lines[0]?.conversation ?? "");
    const rounds = lines.map(({ message }) => [message]);
    const started = performance.now();
    await session.addBatch(rounds);
    timings.add(performance.now() - started, lines.length);
  }

  async commits(): Promise<number> {
    return (await this.memory.stats()).write.totalGroups;
  }

  /** Closes the memory, which empties the log, and returns the size of its file. */
  async close(): Promise<number> {
    await this.memory.close();
    return statSync(this.path).size;
  }
}

/** Measures the event loop while `work` runs. */
export async function withLoopDelay<T>(work: () => Promise<T>): Promise<readonly [T, LoopDelay]> {
  const histogram = monitorEventLoopDelay({ resolution: 1 });
  histogram.enable();
  const result = await work();
  // The timer's next tick measures the last delay.
  await new Promise((resolve) => setTimeout(resolve, 5));
  histogram.disable();
  const ms = (nanoseconds: number): number => nanoseconds / 1e6;
  const [p50, p99] = [ms(histogram.percentile(50)), ms(histogram.percentile(99))];
  return [result, { p50, p99, max: ms(histogram.max) }];
}
