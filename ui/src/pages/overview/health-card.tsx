/** Health: each target with what was measured, and the parts that do not work. */
import type { MemoryStats } from "holdfast/client";
import { bytes, ms } from "../../parts/format.js";

type Target = MemoryStats["targets"][number];
type Components = MemoryStats["health"]["components"];

const NAMES: { readonly [name in Target["name"]]: string } = {
  add: "Add",
  transfer: "Transfer and embed",
  flush: "Flush to the store",
  cachedQuery: "Query, cached",
  coldQuery: "Query, cold",
  roundBuffer: "RoundBuffer",
  hybridBuffer: "HybridBuffer",
  queryCache: "Cached answers",
  buffers: "All buffers",
  transferRate: "Transfers",
  memory: "Memory of buffers",
  queryLatency: "Query latency",
  cacheHitRate: "Repeated questions answered from cache",
};

const TONES: { readonly [condition in Target["condition"]]: string } = {
  healthy: "good",
  idle: "",
  warning: "warn",
  alert: "bad",
  "no data": "",
};

export function HealthCard({
  targets,
  components,
}: {
  readonly targets: readonly Target[];
  readonly components: Components;
}) {
  const broken = Object.entries(components).filter(([, { state }]) => state !== "ok");
  return (
    <section class="card" aria-labelledby="health-head">
      <header>
        <h2 id="health-head">Health</h2>
        {broken.length === 0 ? (
          <span class="badge good">all parts work</span>
        ) : (
          <span class="row">
            {broken.map(([name, { state }]) => (
              <span key={name} class="badge bad">
                {name}: {state}
              </span>
            ))}
          </span>
        )}
      </header>
      <ul class="targets">
        {targets.map((target) => (
          <li key={`${target.area} ${target.name}`} class="target">
            <TargetLine target={target} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function TargetLine({ target }: { readonly target: Target }) {
  const { name, condition, value, goal } = target;
  const end = goal.alert ?? goal.to ?? goal.from ?? 1;
  const scale = goal.to === undefined ? 1 : Math.max(end, value);
  const isKnown = condition !== "no data";
  return (
    <>
      <span>{NAMES[name]}</span>
      <span class="meter" aria-hidden="true">
        {isKnown && (
          <span class={`fill ${TONES[condition]}`} style={{ width: `${Math.min(100, (100 * value) / scale)}%` }} />
        )}
        <span
          class="goal"
          style={{ insetInlineStart: `${Math.min(100, (100 * (goal.to ?? goal.from ?? 0)) / scale)}%` }}
        />
      </span>
      <span class="number target-value">{isKnown ? shown(target, value) : "–"}</span>
      <span class="muted small goal-words">{goalWords(target)}</span>
      <span class={`badge ${TONES[condition]}`}>{condition}</span>
    </>
  );
}

function shown({ unit }: Target, value: number): string {
  if (unit === "bytes") return bytes(value);
  if (unit.startsWith("ms")) return ms(value);
  if (unit.startsWith("share")) return `${Math.round(100 * value)} %`;
  return `${Math.round(value)}/min`;
}

function goalWords(target: Target): string {
  const { from, to } = target.goal;
  if (to === undefined) return `above ${shown(target, from ?? 0)}`;
  return from === undefined ? `up to ${shown(target, to)}` : `${from}–${to}/min`;
}
