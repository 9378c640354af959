/** The diagram: parts in a lane, and the wires between them. A part is a button that shows what the part holds. */
import type { ComponentChildren } from "preact";
import { usePlace } from "../../app/place.js";
import { age } from "../../parts/format.js";
import type { Movement } from "./movements.js";

export const DETAILS_ID = "flow-details";

interface PartProps {
  readonly id: string;
  readonly name: string;
  /** The level of the hierarchy: L1. */
  readonly level?: string;
  readonly value: string;
  readonly unit: string;
  readonly tone?: "good" | "warn" | "bad";
  readonly children?: ComponentChildren;
}

export function Part({ id, name, level, value, unit, tone, children }: PartProps) {
  const { params, change } = usePlace();
  const isOpen = params["part"] === id;
  return (
    <button
      type="button"
      id={`part-${id}`}
      class={`part ${tone ?? ""}`}
      aria-expanded={isOpen}
      aria-controls={isOpen ? DETAILS_ID : undefined}
      onClick={() => change({ part: isOpen ? undefined : id }, { push: true })}
    >
      <span class="part-name">
        {name} {level !== undefined && <span class="badge">{level}</span>}
      </span>
      <span class="part-value">
        <span class="number">{value}</span> <span class="muted small">{unit}</span>
      </span>
      {children}
    </button>
  );
}

/** What a part holds towards a threshold. */
export function Level({ label, value, max, shown }: LevelProps) {
  const share = max > 0 ? Math.min(1, value / max) : 0;
  return (
    <span class="level small">
      <span class="level-words">
        <span class="muted">{label}</span>{" "}
        <span class="number">
          {shown(value)} / {shown(max)}
        </span>
      </span>
      <span class="meter" aria-hidden="true">
        {share > 0 && <span class="fill" style={{ width: `${100 * share}%` }} />}
      </span>
    </span>
  );
}

interface LevelProps {
  readonly label: string;
  readonly value: number;
  readonly max: number;
  readonly shown: (value: number) => string;
}

export function Note({ children }: { readonly children: ComponentChildren }) {
  return <span class="part-note muted small">{children}</span>;
}

/** A wire to the next part. What moves over it travels as a dot, with the reason beside it. */
export function Wire({ movement, label }: { readonly movement?: Movement | undefined; readonly label?: string }) {
  return (
    <span class="wire">
      <span class="wire-line" aria-hidden="true">
        {movement !== undefined && movement.count > 0 && <span key={movement.count} class="wire-dot" />}
      </span>
      <span class="wire-words small">
        {movement ? (
          <>
            <span>{movement.what}</span>
            <span class="badge accent">{movement.why}</span>
            <span class="muted">{age(movement.at)} ago</span>
          </>
        ) : (
          label !== undefined && <span class="muted">{label}</span>
        )}
      </span>
    </span>
  );
}
