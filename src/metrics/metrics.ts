/**
 * Metrics: exposes a memory in a Prometheus registry. A scrape reads the memory once, for all metrics together, and never
 * fails because of it: if the memory cannot be read, `holdfast_up` is 0 and its metrics are omitted.
 */
import { Counter, collectDefaultMetrics, Gauge, type Registry } from "prom-client";
import type { Memory } from "../memory.js";
import type { NumberDefinition } from "./definition.js";
import { LATENCIES, NUMBERS } from "./definitions.js";
import { EventLoop } from "./event-loop.js";
import { LatencySummary } from "./latency-summary.js";
import { type Sample, sampleOf } from "./sample.js";

export class Metrics {
  readonly #memory: Memory;
  readonly #registry: Registry;
  readonly #eventLoop = new EventLoop();
  #sampling: Promise<Sample> | undefined;

  constructor(memory: Memory, registry: Registry) {
    this.#memory = memory;
    this.#registry = registry;
    for (const definition of NUMBERS) this.#register(definition, registry);
    for (const { name, help, labelNames, read } of LATENCIES) {
      const readNow = async () => read(await this.#sample());
      new LatencySummary({ name, help, labelNames, registry, read: readNow });
    }
    collectDefaultMetrics({ register: registry });
  }

  #register({ type, name, help, labelNames, read }: NumberDefinition, registry: Registry): void {
    const named = { name, help, labelNames: [...labelNames], registers: [registry] };
    const values = async () => read(await this.#sample());
    if (type === "gauge") {
      const gauge: Gauge = new Gauge({
        ...named,
        collect: async () => {
          const current = await values();
          gauge.reset();
          for (const { labels, value } of current) gauge.set(labels, value);
        },
      });
      return;
    }
    const counter: Counter = new Counter({
      ...named,
      collect: async () => {
        const current = await values();
        counter.reset();
        for (const { labels, value } of current) counter.inc(labels, value);
      },
    });
  }

  /** Shared by all metrics of a scrape: they are collected in one turn of the event loop. */
  #sample(): Promise<Sample> {
    this.#sampling ??= sampleOf(this.#memory, this.#eventLoop.read()).finally(() => {
      this.#sampling = undefined;
    });
    return this.#sampling;
  }

  /** The whole registry in the text exposition format. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Stops measuring the event loop. */
  close(): void {
    this.#eventLoop.stop();
  }
}
