/** Explains an answer: what the QueryBuffer did, what each source found, and why items are missing. */

import type { Presentation, Question } from "../../input/question.js";
import { unmatched } from "../../stores/row-filter.js";
import type { Store } from "../../stores/store.js";
import type { Explanation, Hit, MissingItem, Origin, SourceReport } from "../../types.js";
import type { Ranking } from "./retriever.js";

export interface ExplanationRequest {
  readonly question: Question;
  readonly presentation: Presentation;
  readonly ranking: Ranking;
  readonly hits: readonly Hit[];
  readonly origin: Origin;
  readonly now: number;
}

export async function explain(store: Store, request: ExplanationRequest): Promise<Explanation> {
  const { ranking, origin } = request;
  const { found, sources, reading } = ranking;
  return {
    question: reading,
    origin,
    sources: [reportOf(origin, found.length), ...sources],
    candidates: ranking.candidates,
    missing: await missing(store, request),
  };
}

/** Finished answers carry no explanation, so `answers` is never the origin here. */
function reportOf(origin: Origin, found: number): SourceReport {
  const report = { source: "query", asked: true, ms: 0 } as const;
  if (origin === "misses") return { ...report, found: 0 };
  if (origin === "shared") return { ...report, found, why: "the same question was under way" };
  return { ...report, found, why: "ranked before, and nothing has changed since; the other sources were asked then" };
}

/** The items that the caller asked about but that are not among the hits, each with the reason. */
async function missing(store: Store, request: ExplanationRequest): Promise<readonly MissingItem[]> {
  const { question, presentation, ranking, hits, now } = request;
  const shown = new Set(hits.map(({ id }) => id));
  const absent = [...new Set(presentation.explain?.ids)].filter((id) => !shown.has(id));
  if (absent.length === 0) return [];
  const existing = await store.get(question.spaces, absent, now);
  return absent.map((id) => {
    const items = existing.filter((item) => item.id === id);
    if (items.length === 0) return { id, why: "not in these spaces, or expired" };
    const at = ranking.found.findIndex((found) => found.id === id);
    const found = ranking.found[at];
    if (found) {
      const { score, why } = found;
      return { id, why: whyNotShown(at, presentation), ranked: { place: at + 1, score, why } };
    }
    // Several spaces may have an item with this id.
    const [unmet = [], ...others] = items.map((item) => unmatched(item, question.filter));
    const isFiltered = [unmet, ...others].every((fields) => fields.length > 0);
    if (isFiltered) return { id, why: `excluded by the filter: ${unmet.join(", ")}` };
    const isAll = ranking.found.length < question.depth;
    return { id, why: isAll ? "no source found it" : `not among the best ${ranking.found.length}` };
  });
}

function whyNotShown(place: number, { offset, topK }: Presentation): string {
  const isOnPage = place >= offset && place < offset + topK;
  if (isOnPage) return "changed while the answer was made";
  return `ranked ${place + 1}; the answer shows places ${offset + 1} to ${offset + topK}`;
}
