/**
 * The names under which questions and answers are kept: plain text, made once per question.
 *
 * They are made of every field there is, so that a field that is added later cannot be forgotten here. Fields in another
 * order make another name: a miss, never a wrong answer.
 */

import type { Presentation, Question } from "../../input/question.js";
import type { SpaceRef } from "../../types.js";

/** Who asks: decides which hits are `in_session`. */
export interface Place {
  readonly space: SpaceRef;
  readonly session?: string;
}

/** What is asked. Without the deadline: a ranking that is complete is right however much time there was. */
export function questionKey({ depth: _depth, deadlineMs: _deadline, ...asked }: Question): string {
  return JSON.stringify(asked);
}

/** How the answer is shown, and to whom if that makes a difference. */
export function pageKey({ space, session }: Place, presentation: Presentation): string {
  return JSON.stringify(session === undefined ? presentation : [presentation, space, session]);
}

/** Questions of one name run together: asked of the same state of the store, with the same time to answer. */
export function flightKey(key: string, versions: string, { depth, deadlineMs }: Question): string {
  return `${versions}|${depth}|${deadlineMs ?? ""}|${key}`;
}
