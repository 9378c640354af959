/** What the server measured, all series or one: read as a whole once, then only what is new. */
import type { RemoteMemory, StatsHistory } from "holdfast/client";

export type Series = StatsHistory["series"];
export type SeriesName = keyof Series;

/** The server keeps no more either. */
const MAX_MS = 6 * 3_600_000;

export class History<Name extends SeriesName = SeriesName> {
  readonly #series: Name | undefined;
  #known: StatsHistory<Name> | undefined;

  constructor(series?: Name) {
    this.#series = series;
  }

  async read(memory: RemoteMemory): Promise<StatsHistory<Name>> {
    const since = this.#known?.at.at(-1);
    const news = await memory.statsHistory<Name>({
      ...(since !== undefined && { since }),
      ...(this.#series !== undefined && { series: this.#series }),
    });
    this.#known = this.#known ? within(joined(this.#known, news), MAX_MS) : news;
    return this.#known;
  }
}

/** The samples of the last `rangeMs`. */
export function within<Name extends SeriesName>(history: StatsHistory<Name>, rangeMs: number): StatsHistory<Name> {
  return from(history, (history.at.at(-1) ?? 0) - rangeMs);
}

/** Two reads at the same time return the same news: what is known already is left out. */
function joined<Name extends SeriesName>(known: StatsHistory<Name>, news: StatsHistory<Name>): StatsHistory<Name> {
  const { at, series } = from(news, (known.at.at(-1) ?? 0) + 1);
  if (at.length === 0) return known;
  return {
    ...known,
    at: [...known.at, ...at],
    series: columns(known, (name) => [...known.series[name], ...series[name]]),
  };
}

function from<Name extends SeriesName>(history: StatsHistory<Name>, earliest: number): StatsHistory<Name> {
  const found = history.at.findIndex((at) => at >= earliest);
  if (found === 0) return history;
  const first = found < 0 ? history.at.length : found;
  return {
    ...history,
    at: history.at.slice(first),
    series: columns(history, (name) => history.series[name].slice(first)),
  };
}

function columns<Name extends SeriesName>(
  { series }: StatsHistory<Name>,
  of: (name: Name) => readonly (number | null)[],
): StatsHistory<Name>["series"] {
  return Object.fromEntries(
    (Object.keys(series) as Name[]).map((name) => [name, of(name)]),
  ) as StatsHistory<Name>["series"];
}
