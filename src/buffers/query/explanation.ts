/** How an answer came about: what the QueryBuffer did, what the sources said when the ranking was made, and why not. */

import type { Presentation, Question } from "../../input/question.js";
import type { Store } from "../../stores/store.js";
import type { Explanation, Hit, SourceReport } from "../../types.js";
import type { Origin } from "./query-stats.js";
import type { Ranking } from "./ranking.js";

export interface ExplanationRequest {
  readonly question: Question;
  readonly presentation: Presentation;
  readonly ranking: Ranking;
  readonly hits: readonly Hit[];
  readonly origin: Origin;
  readonly now: number;
}

/** Undefined if none is wanted. */
export async function explain(store: Store, request: ExplanationRequest): Promise<Explanation | undefined> {
  const { presentation, ranking, origin } = request;
  const { found, sources, reading } = ranking;
  if (!presentation.explain) return undefined;
  return {
    question: reading,
    sources: [reportOf(origin, found.length), ...sources],
    candidates: ranking.candidates,
    missing: await missing(store, request),
  };
}

/** The finished answers are not asked: they do not say how they came about. */
function reportOf(origin: Origin, found: number): SourceReport {
  const report = { source: "query", asked: true, ms: 0 } as const;
  if (origin === "misses") return { ...report, found: 0 };
  if (origin === "shared") return { ...report, found, why: "the same question was under way" };
  return { ...report, found, why: "ranked before, and nothing has changed since; the other sources were asked then" };
}

/** Items that were asked about and are not in the answer, each with the reason. */
async function missing(store: Store, request: ExplanationRequest): Promise<Explanation["missing"]> {
  const { question, presentation, ranking, hits, now } = request;
  const shown = new Set(hits.map(({ id }) => id));
  const absent = [...new Set(presentation.explain?.ids)].filter((id) => !shown.has(id));
  if (absent.length === 0) return [];
  const existing = new Set((await store.get(question.spaces, absent, now)).map(({ id }) => id));
  const isNarrow = Object.keys(question.filter).length > 0;
  return absent.map((id) => {
    if (!existing.has(id)) return { id, why: "not in these spaces, or expired" };
    const place = ranking.found.findIndex((found) => found.id === id);
    if (place >= 0) return { id, why: whyNotShown(place, presentation) };
    const isAll = ranking.found.length < question.depth;
    const why = isAll ? "no source found it" : `not among the best ${ranking.found.length}`;
    return { id, why: isNarrow ? `${why}, or kept out by the filter` : why };
  });
}

function whyNotShown(place: number, { offset, topK }: Presentation): string {
  const isOnPage = place >= offset && place < offset + topK;
  if (isOnPage) return "changed while the answer was made";
  return `ranked ${place + 1}; the answer shows places ${offset + 1} to ${offset + topK}`;
}
