/** Power cuts: at which points of a recording, and what each leaves of the changes that were not durable. */
import { Random } from "../support/random.js";
import type { Change, Fate, File, Tear } from "./disk.js";
import type { LogRecord } from "./recording.js";

/**
 * What survives of the changes that were not durable:
 * synced: none · all: each · prefix: those up to a moment · torn: the same, and the last one in part · subset: any, some of
 * them in part · files: those of some files and folders · names: all writes, and any changes of names · missing: all but
 * one · sizes: files have grown, and what they have grown by is not written.
 */
const CHOICES = ["synced", "all", "prefix", "torn", "subset", "files", "names", "missing", "sizes"] as const;
export type Choice = (typeof CHOICES)[number];

/** One power cut: after so many records; `seed` draws what the choice leaves open. */
export interface Cut {
  readonly point: number;
  readonly choice: Choice;
  readonly seed: number;
}

/** How many cuts are made at one point if something was not durable there. */
const CUTS_PER_POINT = 4;
/** More points than cuts divided by that: at many points everything is durable, and there is one cut to make. */
const POINTS_PER_CUT = 0.75;
const SECTOR = 512;
const PAGE = 4096;

/**
 * So many cuts, in the order of their points. Of each point one leaves nothing but what was synced. Fewer if a recording is
 * short: then every point is cut. `uncertain` counts the changes, and those of names, that were not durable at points.
 */
export function planCuts(
  records: readonly LogRecord[],
  count: number,
  random: Random,
  uncertain: (points: readonly number[]) => ReadonlyMap<number, { readonly changes: number; readonly names: number }>,
): Cut[] {
  const points = choosePoints(records, Math.ceil(count * POINTS_PER_CUT), random);
  const cuts: Cut[] = [];
  for (const [point, { changes, names }] of uncertain(points)) {
    const choices: Choice[] = ["synced"];
    if (names > 1) choices.push("names");
    while (changes > 0 && choices.length < CUTS_PER_POINT) choices.push(random.pick(CHOICES.slice(1)));
    for (const choice of choices) cuts.push({ point, choice, seed: random.between(0, 2 ** 32 - 1) });
  }
  return sample(cuts, count, random).sort((one, other) => one.point - other.point);
}

/** Points that are told apart: more would be lost at some of them than at others. */
type Moment = "answered" | "syncing" | "rare" | "other";
const WEIGHTS: { readonly [moment in Moment]: number } = { answered: 3, syncing: 2, rare: 3, other: 2 };

/** Behind a report something was promised; beside a sync most is uncertain; sizes and names seldom change. */
function momentOf(record: LogRecord): Moment {
  if (record.kind === "report") return "answered";
  if (record.kind === "sync" || record.kind === "synced") return "syncing";
  return record.kind === "write" || record.kind === "open" ? "other" : "rare";
}

function choosePoints(records: readonly LogRecord[], count: number, random: Random): number[] {
  const all = records.map((_, at) => at + 1);
  if (all.length <= count) return all;
  const chosen = new Set<number>([records.length]);
  const sum = Object.values(WEIGHTS).reduce((total, weight) => total + weight);
  for (const [moment, weight] of Object.entries(WEIGHTS)) {
    const points = all.filter((point) => momentOf(records[point - 1] as LogRecord) === moment);
    for (const point of sample(points, Math.ceil((count * weight) / sum), random)) chosen.add(point);
  }
  return [...chosen].sort((one, other) => one - other);
}

function sample<T>(list: readonly T[], count: number, random: Random): T[] {
  const left = [...list];
  while (left.length > count) {
    left[random.between(0, left.length - 1)] = left.at(-1) as T;
    left.pop();
  }
  return left;
}

/** What becomes of each change. Requires the changes in order. */
export function fates({ choice, seed }: Cut, pending: readonly Change[]): (change: Change) => Fate {
  const random = new Random(seed);
  const decided = decide(choice, pending, random);
  return (change) => decided.get(change) ?? "lost";
}

function decide(choice: Choice, pending: readonly Change[], random: Random): ReadonlyMap<Change, Fate> {
  const fated = (fate: (change: Change, at: number) => Fate) =>
    new Map(pending.map((change, at) => [change, fate(change, at)]));
  const place = random.between(0, Math.max(0, pending.length - 1));
  switch (choice) {
    case "synced":
      return fated(() => "lost");
    case "all":
      return fated(() => "kept");
    case "prefix":
      return fated((_, at) => (at < place ? "kept" : "lost"));
    case "torn":
      return fated((change, at) => (at < place ? "kept" : at === place ? inPart(change, random) : "lost"));
    case "subset": {
      const share = random.pick([0.1, 0.5, 0.9]);
      return fated((change) => (!random.chance(share) ? "lost" : random.chance(0.2) ? inPart(change, random) : "kept"));
    }
    case "files": {
      const kept = new Map([...new Set(pending.map(ownerOf))].map((owner) => [owner, random.chance(0.5)]));
      return fated((change) => (kept.get(ownerOf(change)) ? "kept" : "lost"));
    }
    case "names":
      return fated(({ kind }) => (kind === "name" && random.chance(0.5) ? "lost" : "kept"));
    case "missing":
      return fated((_, at) => (at === place ? "lost" : "kept"));
    case "sizes": {
      const fill = random.chance(0.5) ? 0 : random.between(1, 255);
      const grown: Tear = (_, data, before) =>
        before.some((byte) => byte !== 0) ? before : Buffer.alloc(data.length, fill);
      return fated(({ kind }) => (kind === "write" ? grown : "kept"));
    }
  }
}

const ownerOf = (change: Change): unknown => (change.kind === "name" ? change.folder : change.file);

/** Of a write some sectors or some pages arrive: the first ones, the last ones, or any. Other changes are indivisible. */
function inPart(change: Change, random: Random): Fate {
  if (change.kind !== "write") return random.chance(0.5) ? "kept" : "lost";
  const unit = random.pick([SECTOR, PAGE]);
  const how = random.pick(["first", "last", "any"] as const);
  const limit = random.fraction();
  const seed = random.between(0, 2 ** 32 - 1);
  return (at, data, before) => {
    const torn = Buffer.alloc(data.length);
    before.copy(torn);
    let size = before.length;
    const any = new Random(seed);
    const end = at + data.length;
    for (let start = at; start < end; start = (Math.floor(start / unit) + 1) * unit) {
      const position = (start - at) / data.length;
      const arrives = how === "first" ? position < limit : how === "last" ? position >= limit : any.chance(0.5);
      const next = Math.min((Math.floor(start / unit) + 1) * unit, end);
      if (!arrives) continue;
      data.copy(torn, start - at, start - at, next - at);
      size = Math.max(size, next - at);
    }
    return torn.subarray(0, size);
  };
}

/** The files and folders with changes that were not durable, for the report. */
export const touched = (pending: readonly Change[]): ReadonlySet<string> =>
  new Set(pending.map((change) => (change.kind === "name" ? "names" : (change.file as File).name)));
