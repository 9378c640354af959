/** One search: its options from the URL, its answer, how long the browser waited for it, and where it came from. */
import type { Hits as AllHits, Item, MemoryStats, QueryOptions, Scope } from "holdfast/client";
import { isAdmin, memory } from "../../app/connection.js";
import { type Params, scopeIn } from "../../app/place.js";

export type Hits = AllHits;
export type Hit = AllHits[number];
export type Explanation = NonNullable<AllHits["explanation"]>;
export type Missing = Explanation["missing"][number];
export type Origin = Explanation["origin"];

export const WITHIN = [
  ["", "Whole space"],
  ["session", "This session"],
  ["agent", "This agent"],
] as const;
export const BY = [
  ["", "Words and meaning"],
  ["words", "Words only"],
  ["meaning", "Meaning only"],
] as const;
export const ROLES = ["user", "assistant", "system", "tool"] as const;
export const KINDS = ["message", "knowledge", "fact", "overflow"] as const;
export const TOP_K = ["5", "10", "20", "50"] as const;

export interface Asked {
  readonly hits: Hits;
  readonly tookMs: number;
  /** Undefined if the answer does not contain it, and the key may not read the server's counters. */
  readonly origin: Origin | undefined;
  /** The item that "why not" is asked of, if it exists. */
  readonly item?: Item | undefined;
}

export async function ask(params: Params, prefix: string, signal: AbortSignal): Promise<Asked> {
  if (isPlain(params)) return inTurn(() => askPlainly(params, prefix, signal));
  const session = memory.value.session(scopeIn(params) as Scope, { signal });
  const { why } = params;
  const started = performance.now();
  const hits = await session.query(params["q"] ?? "", {
    ...optionsIn(params, prefix),
    explain: why === undefined || why === "" ? true : [why],
  });
  const tookMs = performance.now() - started;
  const [item] = why ? await session.get([why]) : [];
  return { hits, tookMs, origin: hits.explanation?.origin, item };
}

export const isPlain = (params: Params): boolean => params["plain"] === "1";

/** Asks as an application does. The answer does not say where it came from, but the server's counters before and after do. */
async function askPlainly(params: Params, prefix: string, signal: AbortSignal): Promise<Asked> {
  signal.throwIfAborted();
  const session = memory.value.session(scopeIn(params) as Scope, { signal });
  const counts = async () => (isAdmin.value ? countsIn(await memory.value.stats()) : undefined);
  const before = await counts();
  const started = performance.now();
  const hits = await session.query(params["q"] ?? "", optionsIn(params, prefix));
  const tookMs = performance.now() - started;
  const after = await counts();
  return { hits, tookMs, origin: before && after && onlyChange(before, after) };
}

/** Both sides of a comparison would be counted together, so they are asked one after the other. */
let turn: Promise<unknown> = Promise.resolve();
function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const mine = turn.then(work);
  turn = mine.catch(() => {}); // the caller gets the failure
  return mine;
}

type Counts = { readonly [origin in Origin]: number };

const countsIn = ({ query: { answers, rankings, victims, ahead, shared, misses } }: MemoryStats): Counts => ({
  answers: answers.hits,
  rankings: rankings.hits,
  victims: victims.hits,
  ahead: ahead.hits,
  shared,
  misses,
});

/** The origin whose counter grew by one. Undefined if other queries came in between. */
function onlyChange(before: Counts, after: Counts): Origin | undefined {
  const grown = (Object.keys(after) as Origin[]).filter((origin) => after[origin] !== before[origin]);
  const [origin] = grown;
  return origin && grown.length === 1 && after[origin] - before[origin] === 1 ? origin : undefined;
}

function optionsIn(params: Params, prefix: string): QueryOptions {
  const given = (name: string): string | undefined => params[prefix + name] || undefined;
  const [within, by, role, kind] = ["within", "by", "role", "kind"].map(given);
  const [from, to] = ["from", "to"].map(given);
  return {
    topK: Number(given("top") ?? 10),
    ...(within !== undefined && { within: within as "session" | "agent" }),
    ...(by !== undefined && { by: by as "words" | "meaning" }),
    ...(role !== undefined && { role: role as (typeof ROLES)[number] }),
    ...(kind !== undefined && { kind: kind as (typeof KINDS)[number] }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  };
}
