/** One search: its options from the URL, its answer, and how long the browser waited for it. */
import type { Hits as AllHits, QueryOptions, Scope } from "holdfast/client";
import { memory } from "../../app/connection.js";
import { type Params, scopeIn } from "../../app/place.js";

export type Hits = AllHits;
export type Hit = AllHits[number];
export type Explanation = NonNullable<AllHits["explanation"]>;

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

export async function ask(params: Params, prefix: string, signal: AbortSignal) {
  const scope = scopeIn(params) as Scope;
  const started = performance.now();
  const session = memory.value.session(scope, { signal });
  const hits = await session.query(params["q"] ?? "", optionsIn(params, prefix));
  return { hits, tookMs: performance.now() - started };
}

function optionsIn(params: Params, prefix: string): QueryOptions {
  const given = (name: string): string | undefined => params[prefix + name] || undefined;
  const [within, by, role, kind] = ["within", "by", "role", "kind"].map(given);
  const [from, to, without] = ["from", "to", "why"].map(given);
  return {
    topK: Number(given("top") ?? 10),
    explain: without === undefined ? true : without.split(/[\s,]+/).filter(Boolean),
    ...(within !== undefined && { within: within as "session" | "agent" }),
    ...(by !== undefined && { by: by as "words" | "meaning" }),
    ...(role !== undefined && { role: role as (typeof ROLES)[number] }),
    ...(kind !== undefined && { kind: kind as (typeof KINDS)[number] }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  };
}
