/**
 * Plot: lines over time, drawn by uPlot. It owns the size, the colours of the theme and the cursor, which all plots of a
 * page share. The table below has the same numbers for those who do not see the drawing: at the cursor, or else the
 * newest, and of the whole range.
 */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { theme } from "../app/theme.js";
import "./plot.css";

export interface Line {
  readonly name: string;
  /** One value per time. Null: there is none, and the line has a gap. */
  readonly values: readonly (number | null)[];
}

interface PlotProps {
  readonly title: string;
  readonly note?: string;
  /** Epoch milliseconds, ascending. */
  readonly at: readonly number[];
  /** At most as many as there are colours. */
  readonly lines: readonly Line[];
  /** The end of the time axis, and its length. */
  readonly until: number;
  readonly rangeMs: number;
  readonly shown: (value: number) => string;
  /** The distances between the marks of the value axis that read well in this unit. */
  readonly steps?: readonly number[] | undefined;
  /** The end of the value axis. By default it follows the values. */
  readonly most?: number | undefined;
}

const HEIGHT = 160;
const AXIS_WIDTH = 64;
const AXIS_HEIGHT = 26;
/** Below this, a line lies on the axis. */
const MOST_MIN = 0.01;
const COLOURS = ["--part-recall", "--part-turns", "--part-facts", "--part-blocks", "--bad"] as const;
/** Lines are told apart by their dashes too. */
const DASHES: readonly (readonly number[])[] = [[], [7, 3], [2, 3], [9, 3, 2, 3], [4, 2]];

export function Plot({ title, note, at, lines, until, rangeMs, shown, steps, most }: PlotProps) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const [cursor, setCursor] = useState<number | undefined>(undefined);
  const latest = useRef({ until, rangeMs, shown });
  latest.current = { until, rangeMs, shown };
  const names = lines.map(({ name }) => name).join("\n");

  useEffect(() => {
    const { current: element } = host;
    if (!element) return;
    const colour = colourIn(element);
    const axis = {
      stroke: () => colour("--muted"),
      grid: { stroke: () => colour("--line"), width: 1 },
      ticks: { show: false },
    };
    const made = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { sync: { key: "holdfast" }, drag: { setScale: false, x: false, y: false }, y: false },
        scales: {
          x: { range: () => [(latest.current.until - latest.current.rangeMs) / 1000, latest.current.until / 1000] },
          y: { range: (_, __, highest) => [0, most ?? (highest > MOST_MIN ? highest * 1.1 : 1)] },
        },
        axes: [
          {
            ...axis,
            values: (_, splits) => splits.map((second) => CLOCK.format(second * 1000)),
            space: 70,
            size: AXIS_HEIGHT,
          },
          {
            ...axis,
            size: AXIS_WIDTH,
            values: (_, splits) => splits.map((value) => latest.current.shown(value)),
            ...(steps && { incrs: [...steps] }),
          },
        ],
        series: [
          {},
          ...names.split("\n").map((label, index): uPlot.Series => {
            const token = COLOURS[index] ?? "--text";
            return {
              label,
              stroke: () => colour(token),
              width: 1.5,
              dash: [...(DASHES[index] ?? [])],
              points: {
                size: 4,
                fill: () => colour(token),
                filter: (made, at, isShown) => (isShown ? null : alone(made.data[at])),
              },
            };
          }),
        ],
        hooks: { setCursor: [({ cursor: { idx } }) => setCursor(idx ?? undefined)] },
      },
      [[]],
      element,
    );
    plot.current = made;
    const sized = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    sized.observe(element);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const redraw = (): void => made.redraw();
    dark.addEventListener("change", redraw);
    return () => {
      sized.disconnect();
      dark.removeEventListener("change", redraw);
      made.destroy();
      plot.current = undefined;
    };
  }, [names]);

  useEffect(() => {
    plot.current?.setData([at.map((one) => one / 1000), ...lines.map(({ values }) => [...values])]);
  }, [names, at, lines, until, rangeMs]);

  const { value: chosen } = theme;
  useEffect(() => plot.current?.redraw(), [chosen]);

  return (
    <figure class="card plot" aria-label={title}>
      <figcaption>
        <h3>{title}</h3>
        {note !== undefined && <p class="muted small">{note}</p>}
      </figcaption>
      <div ref={host} class="plot-host" aria-hidden="true" />
      <Numbers lines={lines} at={at} cursor={cursor} shown={shown} />
    </figure>
  );
}

interface NumbersProps {
  readonly lines: readonly Line[];
  readonly at: readonly number[];
  readonly cursor: number | undefined;
  readonly shown: (value: number) => string;
}

function Numbers({ lines, at, cursor, shown }: NumbersProps) {
  const moment = cursor === undefined ? undefined : at[cursor];
  const sums = useMemo(() => lines.map(({ values }) => sumOf(values)), [lines]);
  const told = (value: number | null | undefined): string => (value == null ? "–" : shown(value));
  return (
    <table class="plot-numbers small">
      <thead>
        <tr>
          <th scope="col">
            <span class="hidden-text">Line</span>
          </th>
          <th scope="col">{moment === undefined ? "Newest" : EXACT.format(moment)}</th>
          <th scope="col">Mean</th>
          <th scope="col">Highest</th>
        </tr>
      </thead>
      <tbody>
        {lines.map(({ name, values }, index) => (
          <tr key={name}>
            <th scope="row">
              <svg class={`plot-swatch plot-line-${index}`} viewBox="0 0 22 4" aria-hidden="true">
                <line x1="0" x2="22" y1="2" y2="2" stroke-dasharray={DASHES[index]?.join(" ") || undefined} />
              </svg>
              {name}
            </th>
            <td class="number">{told(cursor === undefined ? values.at(-1) : values[cursor])}</td>
            <td class="number">{told(sums[index]?.mean)}</td>
            <td class="number">{told(sums[index]?.most)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function sumOf(values: Line["values"]): { readonly mean: number; readonly most: number } | undefined {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return undefined;
  return { mean: known.reduce((sum, value) => sum + value, 0) / known.length, most: Math.max(...known) };
}

/** The indices of values without neighbours: a line through them would be invisible. */
function alone(values: uPlot.AlignedData[number] | undefined): number[] {
  const found: number[] = [];
  for (const [at, value] of [...(values ?? [])].entries()) {
    if (value != null && values?.[at - 1] == null && values?.[at + 1] == null) found.push(at);
  }
  return found;
}

const CLOCK = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const EXACT = new Intl.DateTimeFormat("en", { timeStyle: "medium", hourCycle: "h23" });

/** The value of a colour token in the current theme. A canvas knows no custom properties. */
function colourIn(element: HTMLElement): (token: string) => string {
  const probe = element.appendChild(document.createElement("span"));
  probe.hidden = true;
  return (token) => {
    probe.style.color = `var(${token})`;
    return getComputedStyle(probe).color;
  };
}
