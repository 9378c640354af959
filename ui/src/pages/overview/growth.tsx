/** How much memory has grown while the server ran, at most the last six hours. */
import type { StatsHistory } from "holdfast/client";
import { useMemo } from "preact/hooks";
import { memory } from "../../app/connection.js";
import { useLoaded } from "../../app/loaded.js";
import { usePollCount } from "../../app/poll-count.js";
import { count, lasting, plural } from "../../parts/format.js";
import { History } from "../../parts/history.js";
import { type Point, Sparkline } from "../../parts/sparkline.js";
import { Shown } from "../../parts/states.js";

const EVERY_MS = 10_000;
/** A line needs two points. */
const SAMPLES_MIN = 2;

export function Growth() {
  const polls = usePollCount(EVERY_MS);
  const history = useMemo(() => new History("storedItems"), [memory.value]);
  const loaded = useLoaded(() => history.read(memory.value), [history], [polls]);
  return (
    <section class="card growth" aria-labelledby="growth-head">
      <h2 id="growth-head" class="muted">
        Growth
      </h2>
      <Shown of={loaded} label="the growth">
        {(all) => <Line points={pointsOf(all)} />}
      </Shown>
    </section>
  );
}

function Line({ points }: { readonly points: readonly Point[] }) {
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last || points.length < SAMPLES_MIN) {
    return <p class="muted">The server measures every ten seconds. The line appears with the second sample.</p>;
  }
  const change = last.value - first.value;
  return (
    <>
      <p>
        <span class="figure number">{change === 0 ? "±0" : `${change > 0 ? "+" : "−"}${count(Math.abs(change))}`}</span>{" "}
        <span class="muted small">
          {Math.abs(change) === 1 ? "item" : "items"} in the last {lasting(last.at - first.at)}: from{" "}
          {count(first.value)} to {plural(last.value, "item")}
        </span>
      </p>
      <Sparkline points={points} />
    </>
  );
}

/** Where the store could not be read, there is no value. */
function pointsOf({ at, series: { storedItems } }: StatsHistory<"storedItems">): readonly Point[] {
  return at.flatMap((time, index) => {
    const value = storedItems[index];
    return value == null ? [] : { at: time, value };
  });
}
