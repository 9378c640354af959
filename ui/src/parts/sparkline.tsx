/** Sparkline: the shape of a series, from its lowest to its highest value, without axes. The text beside it has the numbers. */
import "./sparkline.css";

/** More would not be seen. */
const POINTS_MAX = 160;
/** Room above and below the line, in percent. */
const ROOM = 10;

export interface Point {
  readonly at: number;
  readonly value: number;
}

/** Requires two points or more, in the order of their times. */
export function Sparkline({ points }: { readonly points: readonly Point[] }) {
  return <div class="sparkline" aria-hidden="true" style={{ "--shape": `polygon(${shapeOf(thinned(points))})` }} />;
}

function shapeOf(points: readonly Point[]): string {
  const values = points.map(({ value }) => value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const [start, end] = [points[0]?.at ?? 0, points.at(-1)?.at ?? 0];
  const line = points.map(({ at, value }) => {
    const x = (100 * (at - start)) / (end - start);
    const y = high === low ? 50 : 100 - ROOM - ((100 - 2 * ROOM) * (value - low)) / (high - low);
    return `${x.toFixed(2)}% ${y.toFixed(2)}%`;
  });
  return ["0% 100%", ...line, "100% 100%"].join(", ");
}

/** Every nth point, and the last. */
function thinned(points: readonly Point[]): readonly Point[] {
  const step = Math.ceil(points.length / POINTS_MAX);
  return points.filter((_, at) => at % step === 0 || at === points.length - 1);
}
