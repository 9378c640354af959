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
    this.#known = this.#known ? joined(this.#known, news) : news;
    return this.#known;
  }
}

export function joined(known: StatsHistory, news: StatsHistory): StatsHistory {
  if (news.at.length === 0) return known;
  return within(
    {
      ...news,
      at: [...known.at, ...news.at],
      series: columns(news, (name) => [...known.series[name], ...news.series[name]]),
    },
    MAX_MS,
  );
}

/** The samples of the last `rangeMs`. */
export function within(history: StatsHistory, rangeMs: number): StatsHistory {
  const from = (history.at.at(-1) ?? 0) - rangeMs;
  const first = history.at.findIndex((at) => at >= from);
  if (first <= 0) return history;
  return {
    ...history,
    at: history.at.slice(first),
    series: columns(history, (name) => history.series[name].slice(first)),
  };
}

function columns({ series }: StatsHistory, of: (name: Name) => readonly (number | null)[]): Series {
  return Object.fromEntries((Object.keys(series) as Name[]).map((name) => [name, of(name)])) as unknown as Series;
}
