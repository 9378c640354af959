/** The last movement over each wire of the diagram, taken from the event stream. */
import { useState } from "preact/hooks";
import { type LiveEvent, recent, useEvents } from "../../app/live.js";
import { plural } from "../../parts/format.js";

/** added: into the WriteBuffer · embedded: RoundBuffer → HybridBuffer · written: HybridBuffer → store · ahead: prefetches. */
export type Wire = "added" | "embedded" | "written" | "ahead";

export interface Movement {
  /** What moved: 8 items. */
  readonly what: string;
  /** Why it moved now: rounds. */
  readonly why: string;
  readonly at: number;
  /** Grows with each movement, so that equal ones are told apart. 0: it was before the page was opened. */
  readonly count: number;
}

export type Movements = { readonly [wire in Wire]?: Movement };

export function useMovements(): Movements {
  const [movements, setMovements] = useState(earlier);
  useEvents((event) => {
    const moved = movedBy(event);
    if (!moved) return;
    const { wire, what, why } = moved;
    setMovements((before) => {
      const count = (before[wire]?.count ?? 0) + 1;
      return { ...before, [wire]: { what, why, at: event.at, count } };
    });
  });
  return movements;
}

function earlier(): Movements {
  const movements: { [wire in Wire]?: Movement } = {};
  for (const event of recent.value.toReversed()) {
    const moved = movedBy(event);
    if (moved) movements[moved.wire] = { what: moved.what, why: moved.why, at: event.at, count: 0 };
  }
  return movements;
}

function movedBy(event: LiveEvent): { readonly wire: Wire; readonly what: string; readonly why: string } | undefined {
  switch (event.type) {
    case "added":
      return { wire: "added", what: plural(event.ids.length, "item"), why: "added" };
    case "transferred":
      return { wire: "embedded", what: plural(event.ids.length, "item"), why: event.reason };
    case "flushed":
      return { wire: "written", what: plural(event.ids.length, "item"), why: event.reason };
    case "prefetched":
      return { wire: "ahead", what: event.outcome, why: event.predictor.replace("_", " ") };
    default:
      return undefined;
  }
}
