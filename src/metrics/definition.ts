/** Definition of a metric: its name, its help text, and how to read it from a sample. */
import type { LabelledLatency } from "./latency-summary.js";
import type { Sample } from "./sample.js";

export interface LabelledValue {
  readonly labels: { readonly [label: string]: string };
  readonly value: number;
}

interface Named {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
}

export interface NumberDefinition extends Named {
  readonly type: "gauge" | "counter";
  readonly read: (sample: Sample) => readonly LabelledValue[];
}

export interface LatencyDefinition extends Named {
  readonly type: "summary";
  readonly read: (sample: Sample) => readonly LabelledLatency[];
}

type Read = (sample: Sample) => number | undefined;
type ReadMany = (sample: Sample) => { readonly [label: string]: number | undefined } | undefined;
type ReadState = (sample: Sample) => string | undefined;

const alone = (value: number | undefined): readonly LabelledValue[] =>
  value === undefined ? [] : [{ labels: {}, value }];

export const gauge = (name: string, help: string, read: Read): NumberDefinition => ({
  type: "gauge",
  name: `holdfast_${name}`,
  help,
  labelNames: [],
  read: (sample) => alone(read(sample)),
});

export const counter = (name: string, help: string, read: Read): NumberDefinition => ({
  ...gauge(name, help, read),
  type: "counter",
});

/** One number per value of a label. */
export const gauges = (name: string, help: string, label: string, read: ReadMany): NumberDefinition => ({
  type: "gauge",
  name: `holdfast_${name}`,
  help,
  labelNames: [label],
  read: (sample) =>
    Object.entries(read(sample) ?? {}).flatMap(([key, value]) =>
      value === undefined ? [] : [{ labels: { [label]: key }, value }],
    ),
});

export const counters = (name: string, help: string, label: string, read: ReadMany): NumberDefinition => ({
  ...gauges(name, help, label, read),
  type: "counter",
});

/** 1 for the current state, 0 for the others. */
export const state = (name: string, help: string, states: readonly string[], read: ReadState): NumberDefinition =>
  gauges(name, help, "state", (sample) => {
    const current = read(sample);
    return current === undefined ? {} : Object.fromEntries(states.map((one) => [one, one === current ? 1 : 0]));
  });
