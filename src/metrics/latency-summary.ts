/** A Prometheus summary of durations that the memory measures itself, in seconds, since it was opened. */
import { type Registry, Summary } from "prom-client";
import type { Latency } from "../buffers/meter.js";

export interface LabelledLatency {
  readonly labels: { readonly [label: string]: string };
  readonly latency: Latency;
}

export interface LatencySummaryOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  readonly registry: Registry;
  readonly read: () => Promise<readonly LabelledLatency[]>;
}

const QUANTILES = [
  ["p50", 0.5],
  ["p95", 0.95],
  ["p99", 0.99],
] as const;

export class LatencySummary extends Summary {
  readonly #name: string;
  readonly #read: LatencySummaryOptions["read"];

  constructor({ name, help, labelNames, registry, read }: LatencySummaryOptions) {
    super({ name, help, labelNames: [...labelNames], registers: [registry] });
    this.#name = name;
    this.#read = read;
  }

  /** Omits quantiles without a sample. */
  override async get() {
    const values = (await this.#read()).flatMap(({ labels, latency }) => {
      const { count, sum } = latency;
      const quantiles = count === 0 ? [] : QUANTILES.map(([key, quantile]) => [quantile, latency[key] / 1000] as const);
      return [
        ...quantiles.map(([quantile, value]) => ({ metricName: this.#name, labels: { ...labels, quantile }, value })),
        { metricName: `${this.#name}_sum`, labels, value: sum / 1000 },
        { metricName: `${this.#name}_count`, labels, value: count },
      ];
    });
    return { ...(await super.get()), values };
  }
}
