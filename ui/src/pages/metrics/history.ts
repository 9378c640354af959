/** The history that the page shows: read as a whole once, then only what is new. */
import type { RemoteMemory, StatsHistory } from "holdfast/client";

export type Series = StatsHistory["series"];
type Name = keyof Series;

/** The server keeps no more either. */
const MAX_MS = 6 * 3_600_000;

export class History {
  #known: StatsHistory | undefined;

  async read(memory: RemoteMemory): Promise<StatsHistory> {
    const since = this.#known?.at.at(-1);
    const news = await memory.statsHistory(since === undefined ? {} : { since });
    this.#known = this.#known ? within(joined(this.#known, news), MAX_MS) : news;
    return this.#known;
  }
}

/** The samples of the last `rangeMs`. */
export function within(history: StatsHistory, rangeMs: number): StatsHistory {
  return from(history, (history.at.at(-1) ?? 0) - rangeMs);
}

/** Two reads at the same time return the same news: what is known already is left out. */
function joined(known: StatsHistory, news: StatsHistory): StatsHistory {
  const { at, series } = from(news, (known.at.at(-1) ?? 0) + 1);
  if (at.length === 0) return known;
  return {
    ...known,
    at: [...known.at, ...at],
    series: columns(known, (name) => [...known.series[name], ...series[name]]),
  };
}

function from(history: StatsHistory, earliest: number): StatsHistory {
  const found = history.at.findIndex((at) => at >= earliest);
  if (found === 0) return history;
  const first = found < 0 ? history.at.length : found;
  return {
    ...history,
    at: history.at.slice(first),
    series: columns(history, (name) => history.series[name].slice(first)),
  };
}

function columns({ series }: StatsHistory, of: (name: Name) => readonly (number | null)[]): Series {
  return Object.fromEntries((Object.keys(series) as Name[]).map((name) => [name, of(name)])) as unknown as Series;
}
