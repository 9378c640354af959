/** Metrics: what the server measured in the last hours. */
import type { StatsHistory } from "holdfast/client";
import { useMemo } from "preact/hooks";
import { memory } from "../../app/connection.js";
import { useLoaded } from "../../app/loaded.js";
import { usePlace } from "../../app/place.js";
import { usePollCount } from "../../app/poll-count.js";
import { Segments } from "../../parts/field.js";
import { History, within } from "../../parts/history.js";
import { Plot } from "../../parts/plot.js";
import { Empty, PageHead, Shown } from "../../parts/states.js";
import "./metrics.css";
import { GROUPS, type PlotOf } from "./plots.js";

const RANGES = [
  ["15m", "15 min"],
  ["1h", "1 h"],
  ["6h", "6 h"],
] as const;
type Range = (typeof RANGES)[number][0];
const RANGE_MS: { readonly [range in Range]: number } = { "15m": 900_000, "1h": 3_600_000, "6h": 21_600_000 };
const EVERY_MS = 10_000;
/** A line needs two points. */
const SAMPLES_MIN = 2;

export default function Metrics() {
  const { params, change } = usePlace();
  const range = RANGES.find(([one]) => one === params["range"])?.[0] ?? "1h";
  const polls = usePollCount(EVERY_MS);
  const history = useMemo(() => new History(), [memory.value]);
  const loaded = useLoaded(() => history.read(memory.value), [history], [polls]);
  return (
    <div class="page">
      <PageHead title="Metrics" purpose="What this server measured since it started, at most six hours.">
        <Segments label="Range" choices={RANGES} value={range} onChoose={(one) => change({ range: one })} />
      </PageHead>
      <Shown of={loaded} label="the history">
        {(all) =>
          all.at.length < SAMPLES_MIN ? (
            <Empty title="Not enough samples yet">
              <p>The server measures every ten seconds. The plots appear with the second sample.</p>
            </Empty>
          ) : (
            <Plots history={all} rangeMs={RANGE_MS[range]} />
          )
        }
      </Shown>
    </div>
  );
}

function Plots({ history, rangeMs }: { readonly history: StatsHistory; readonly rangeMs: number }) {
  const shown = useMemo(() => within(history, rangeMs), [history, rangeMs]);
  return (
    <div class="stack">
      {GROUPS.map(([name, plots]) => (
        <section key={name} class="stack" aria-labelledby={`group-${name}`}>
          <h2 id={`group-${name}`}>{name}</h2>
          <div class="plots">
            {plots.map((plot) => (
              <OnePlot key={plot.title} plot={plot} history={shown} rangeMs={rangeMs} />
            ))}
          </div>
        </section>
      ))}
    </div>
  );
}

interface OnePlotProps {
  readonly plot: PlotOf;
  readonly history: StatsHistory;
  readonly rangeMs: number;
}

function OnePlot({ plot: { lines, ...plot }, history, rangeMs }: OnePlotProps) {
  // A series without any value is that of a part that is not there.
  const known = useMemo(() => {
    const all = lines(history.series);
    const some = all.filter(({ values }) => values.some((value) => value !== null));
    return some.length > 0 ? some : all;
  }, [lines, history]);
  return <Plot {...plot} at={history.at} lines={known} until={history.at.at(-1) ?? 0} rangeMs={rangeMs} />;
}
