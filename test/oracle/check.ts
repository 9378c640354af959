/** Compares an answer with the expected one. Equally good items may be in any order. */
import type { Hits, QueryOptions, Scope } from "holdfast";
import { expect } from "vitest";
import { itemOf, refOf } from "./conversation.js";
import type { Expected } from "./oracle.js";

/** How far sums in other orders, and of other precision, may differ. */
const EPSILON = 1e-6;
const TOP_K = 10;

const isSame = (one: number | undefined, other: number | undefined): boolean =>
  Math.abs(Number(one) - Number(other)) <= EPSILON;

export function checkAnswer(hits: Hits, expected: readonly Expected[], scope: Scope, options: QueryOptions): void {
  const { topK = TOP_K, offset = 0, sortBy, order, explain } = options;
  const page = expected.slice(offset, offset + topK);
  const sorted = order === "asc" ? [...hits].reverse() : [...hits];
  if (sortBy === "timestamp") {
    expect(sorted.map(({ occurredAt }) => occurredAt)).toEqual(
      sorted.map(({ occurredAt }) => occurredAt).sort((a, b) => b - a),
    );
    sorted.sort((a, b) => b.score - a.score);
  }
  const seen = sorted.map(({ id, score }) => `${id} ${score.toFixed(8)}`);
  const meant = page.map(({ row, score }) => `${row.id} ${score.toFixed(8)}`);
  if (seen.length !== meant.length) expect(seen).toEqual(meant);
  const byId = new Map(expected.map((one) => [one.row.id, one]));
  for (const [at, hit] of sorted.entries()) {
    const { score, level: _level, scope: place, sessionId: _session, why, ...item } = hit;
    const meantHere = byId.get(hit.id);
    if (!meantHere || !isSame(score, meantHere.score) || !isSame(score, page[at]?.score)) expect(seen).toEqual(meant);
    if (!meantHere) continue;
    expect(item).toEqual(itemOf(meantHere.row));
    const isOwn =
      scope.session !== undefined &&
      hit.session === scope.session &&
      JSON.stringify(hit.space) === JSON.stringify(refOf(meantHere.row.space)) &&
      scope[meantHere.row.space.kind] === meantHere.row.space.name &&
      (scope.space ?? meantHere.row.space.kind) === meantHere.row.space.kind;
    expect(place).toBe(isOwn ? "in_session" : "cross_session");
    if (explain) expect(isSame(why?.words?.score ?? 0, meantHere.why.words?.score ?? 0)).toBe(true);
  }
  expect(new Set(hits.map(({ id }) => id)).size).toBe(hits.length);
  expect(hits.explanation !== undefined).toBe(explain === true);
}

/** Every hit shows one of these states of an item: "id version content". */
export function checkTexts(hits: Hits, states: readonly string[]): void {
  const known = new Set(states);
  const shown = hits.map(({ id, version, content }) => `${id} ${version} ${content}`);
  expect(shown.filter((state) => !known.has(state))).toEqual([]);
}
