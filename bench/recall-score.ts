/** Recall by turn: how much of the evidence is among the first hits. */
import type { RecallQuestion } from "./recall-data.js";

export interface RecallRow {
  readonly question_id: string;
  readonly category: string;
  readonly evidence_turn_ids: readonly string[];
  /** Turn ids, best first. */
  readonly hits: readonly string[];
}

/** Shares from 0 to 1, and the number of questions. */
export interface RecallScore {
  readonly n: number;
  readonly "any@5": number;
  readonly "any@10": number;
  readonly "all@10": number;
  readonly "recall@10": number;
  readonly mrr: number;
}

export interface RecallSummary {
  readonly overall: RecallScore;
  /** Without adversarial questions, which ask about something that the named person never said; if there are any. */
  readonly withoutAdversarial?: RecallScore;
  readonly categories: Readonly<Record<string, RecallScore>>;
}

const ADVERSARIAL = "adversarial";

export const rowOf = ({ id, category, evidence }: RecallQuestion, hits: readonly string[]): RecallRow => ({
  question_id: id,
  category,
  evidence_turn_ids: evidence,
  hits,
});

export function summarise(rows: readonly RecallRow[]): RecallSummary {
  const names = [...new Set(rows.map(({ category }) => category))].sort();
  const friendly = rows.filter(({ category }) => category !== ADVERSARIAL);
  return {
    overall: scoreOf(rows),
    ...(friendly.length < rows.length && { withoutAdversarial: scoreOf(friendly) }),
    categories: Object.fromEntries(
      names.map((name) => [name, scoreOf(rows.filter(({ category }) => category === name))]),
    ),
  };
}

function scoreOf(rows: readonly RecallRow[]): RecallScore {
  const mean = (measure: (row: RecallRow) => number): number =>
    rows.length === 0 ? 0 : rows.reduce((sum, row) => sum + measure(row), 0) / rows.length;
  return {
    n: rows.length,
    "any@5": mean((row) => Number(foundIn(row, 5) > 0)),
    "any@10": mean((row) => Number(foundIn(row, 10) > 0)),
    "all@10": mean((row) => Number(foundIn(row, 10) === new Set(row.evidence_turn_ids).size)),
    "recall@10": mean((row) => foundIn(row, 10) / new Set(row.evidence_turn_ids).size),
    mrr: mean(({ hits, evidence_turn_ids }) => {
      const rank = hits.findIndex((id) => evidence_turn_ids.includes(id));
      return rank < 0 ? 0 : 1 / (rank + 1);
    }),
  };
}

/** Number of pieces of evidence among the first `count` hits. */
function foundIn({ hits, evidence_turn_ids }: RecallRow, count: number): number {
  const first = new Set(hits.slice(0, count));
  return [...new Set(evidence_turn_ids)].filter((id) => first.has(id)).length;
}
