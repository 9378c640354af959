/** Evidence in contexts: which of the turns that answer a question are complete in the context? */
import { type Memory, renderText } from "holdfast";
import type { RecallQuestion } from "./recall-data.js";

export interface EvidenceRow {
  readonly question_id: string;
  readonly category: string;
  readonly evidence: number;
  readonly found: number;
  readonly tokens: number;
  readonly ms: number;
  readonly partial: boolean;
}

/** Shares from 0 to 1, and the number of questions. */
export interface EvidenceScore {
  readonly n: number;
  readonly any: number;
  readonly all: number;
  readonly recall: number;
  readonly tokens: number;
}

/** Asks in a new session, or in this session of the conversation, whose turns are then in the context, too. */
export async function askFor(
  memory: Memory,
  { id, conversation, text, category, evidence, askedAt }: RecallQuestion,
  budgetTokens: number,
  inSession?: string,
): Promise<EvidenceRow> {
  const session = memory.session({ user: conversation, ...(inSession !== undefined && { session: inSession }) });
  const started = performance.now();
  const context = await session.context({ query: text, budgetTokens, fresh: true, ...(askedAt && { askedAt }) });
  const ms = performance.now() - started;
  const rendered = renderText(context);
  const given = new Set(
    context.added.filter((item) => !item.cut && rendered.includes(item.text)).map((item) => item.id),
  );
  const wanted = [...new Set(evidence)];
  return {
    question_id: id,
    category,
    evidence: wanted.length,
    found: wanted.filter((turn) => given.has(turn)).length,
    tokens: context.tokens.total,
    ms,
    partial: context.partial,
  };
}

export function scoreOf(rows: readonly EvidenceRow[]): EvidenceScore {
  const mean = (measure: (row: EvidenceRow) => number): number =>
    rows.length === 0 ? 0 : rows.reduce((sum, row) => sum + measure(row), 0) / rows.length;
  return {
    n: rows.length,
    any: mean(({ found }) => Number(found > 0)),
    all: mean(({ found, evidence }) => Number(found === evidence)),
    recall: mean(({ found, evidence }) => found / evidence),
    tokens: mean(({ tokens }) => tokens),
  };
}
