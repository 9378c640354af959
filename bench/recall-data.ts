/** A recall data set: turns.jsonl and qa.jsonl of one folder. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { NewMessage } from "holdfast";

export interface RecallTurn {
  readonly conversation: string;
  readonly session: string;
  readonly message: NewMessage & { readonly id: string; readonly content: string };
}

export interface RecallQuestion {
  readonly id: string;
  readonly conversation: string;
  readonly text: string;
  readonly category: string;
  readonly evidence: readonly string[];
  /** When it is asked; undefined: now. */
  readonly askedAt?: string;
}

export interface RecallData {
  readonly turns: readonly RecallTurn[];
  readonly questions: readonly RecallQuestion[];
}

interface TurnLine {
  readonly conversation_id: string;
  readonly session_id: string;
  readonly turn_id: string;
  readonly speaker: string;
  readonly text: string;
  readonly timestamp?: string | null;
}

interface QuestionLine {
  readonly conversation_id: string;
  readonly question_id: string;
  readonly question: string;
  readonly category: string;
  readonly evidence_turn_ids?: readonly string[];
  readonly question_date?: string;
  readonly abstention?: boolean;
}

/** All questions with evidence, except those that should be abstained from; only the first `limit`, if given. */
export function loadRecallData(folder: string, limit = Number.POSITIVE_INFINITY): RecallData {
  const questions = lines<QuestionLine>(folder, "qa.jsonl")
    .filter(({ evidence_turn_ids, abstention }) => (evidence_turn_ids?.length ?? 0) > 0 && !abstention)
    .slice(0, limit)
    .map(questionOf);
  const asked = new Set(questions.map(({ conversation }) => conversation));
  const turns = lines<TurnLine>(folder, "turns.jsonl").map(turnOf);
  return { turns: turns.filter(({ conversation }) => asked.has(conversation)), questions };
}

function lines<T>(folder: string, file: string): readonly T[] {
  return readFileSync(join(folder, file), "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as T);
}

/** The speakers "user" and "assistant" have that role and no name; everyone else is a user with that name. */
function turnOf({ conversation_id, session_id, turn_id, speaker, text, timestamp }: TurnLine): RecallTurn {
  const who = speaker === "user" || speaker === "assistant" ? { role: speaker } : { role: "user", name: speaker };
  const at = timestamp ? { occurredAt: inUtc(timestamp) } : {};
  const message = { id: turn_id, ...(who as Pick<NewMessage, "role" | "name">), content: text, ...at };
  return { conversation: conversation_id, session: String(session_id), message };
}

function questionOf(line: QuestionLine): RecallQuestion {
  return {
    id: line.question_id,
    conversation: line.conversation_id,
    text: line.question,
    category: line.category,
    evidence: line.evidence_turn_ids ?? [],
    ...(line.question_date && { askedAt: inUtc(line.question_date) }),
  };
}

/** Times without a zone are in UTC. */
const inUtc = (time: string): string => (/(?:Z|[+-]\d\d:?\d\d)$/.test(time) ? time : `${time}Z`);
