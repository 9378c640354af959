/** The targets, and whether they were met. */
import type { BlockReport } from "./blocks.js";
import type { FootprintReport } from "./footprint.js";
import type { GrowthReport } from "./growth.js";
import type { Machine } from "./machine.js";
import { MODE_NAMES } from "./mode.js";
import type { EmbeddingReport } from "./write-embedding.js";
import type { FairnessReport } from "./write-fairness.js";

export interface Report {
  readonly machine: Machine;
  readonly data: string;
  readonly rounds: number;
  readonly footprint: FootprintReport;
  readonly blocks: readonly BlockReport[];
  readonly growth: GrowthReport;
  readonly fairness: readonly FairnessReport[];
  readonly embedding: readonly EmbeddingReport[];
}

export interface Verdict {
  readonly what: string;
  readonly target: string;
  readonly measured: number;
  readonly pass: boolean;
}

const RATIO_MIN = 0.6;
const LOOP_DELAY_MS_MAX = 20;
const GROWTH_MAX = 1.2;
const EMBEDDING_P50_MAX = 1.5;
const EMBEDDING_RATE_MIN = 0.6;

/** Ratios and growth are judged by their medians, the event loop by its worst round. */
export function judge({
  blocks,
  growth,
  embedding,
}: Pick<Report, "blocks" | "growth" | "embedding">): readonly Verdict[] {
  const relative = growth.relative.median;
  return [
    ...blocks.map(({ mode, ratio }) => ({
      what: `Holdfast ÷ raw, ${MODE_NAMES[mode]}`,
      target: `≥ ${RATIO_MIN}`,
      measured: ratio.median,
      pass: ratio.median >= RATIO_MIN,
    })),
    ...blocks.map(({ mode, loopDelay }) => ({
      what: `event-loop delay p99 (ms), ${MODE_NAMES[mode]}`,
      target: `≤ ${LOOP_DELAY_MS_MAX}`,
      measured: loopDelay.p99,
      pass: loopDelay.p99 <= LOOP_DELAY_MS_MAX,
    })),
    ...embedding.map(({ mode, p50, perSecond }) =>
      mode === "batch"
        ? {
            what: `with ÷ without a model, messages per second, ${MODE_NAMES[mode]}`,
            target: `≥ ${EMBEDDING_RATE_MIN}`,
            measured: perSecond.median,
            pass: perSecond.median >= EMBEDDING_RATE_MIN,
          }
        : {
            what: `with ÷ without a model, p50 of an add, ${MODE_NAMES[mode]}`,
            target: `≤ ${EMBEDDING_P50_MAX}`,
            measured: p50.median,
            pass: p50.median <= EMBEDDING_P50_MAX,
          },
    ),
    {
      what: `growth from 1 k to ${growth.messages / 1000} k ÷ raw's growth`,
      target: `≤ ${GROWTH_MAX}`,
      measured: relative,
      pass: relative <= GROWTH_MAX,
    },
  ];
}
