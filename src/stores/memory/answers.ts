/**
 * The answers that one space gave to adds with an idempotency key, so that a retry gets the first answer again.
 *
 * A key belongs to its session, or to the space outside any session, for seven days. When an item of the round is
 * forgotten the hash of the round goes with it; what is left can only say "this was answered", so that a late retry
 * does not bring the forgotten text back.
 */
import type { Attempt } from "./attempt.js";

export const ANSWER_KEPT_MS = 7 * 24 * 60 * 60 * 1000;

export interface Answer {
  readonly sessionId: string | undefined;
  readonly ids: readonly string[];
  readonly sequences: readonly number[];
  readonly at: number;
  /** Of the request; undefined when an item of the round was forgotten. */
  hash: string | undefined;
}

export class Answers {
  readonly #byKey = new Map<string, Answer>();
  readonly #byItem = new Map<string, readonly Answer[]>();

  find(sessionId: string | undefined, key: string, now: number): Answer | undefined {
    const answer = this.#byKey.get(keyOf(sessionId, key));
    return answer && isKept(answer, now) ? answer : undefined;
  }

  record(key: string, answer: Answer, attempt: Attempt): void {
    attempt.set(this.#byKey, keyOf(answer.sessionId, key), answer);
    for (const id of answer.ids) attempt.set(this.#byItem, id, [...(this.#byItem.get(id) ?? []), answer]);
  }

  forgetItem(id: string, attempt: Attempt): void {
    for (const answer of this.#byItem.get(id) ?? []) attempt.assign(answer, { hash: undefined });
    attempt.delete(this.#byItem, id);
  }

  forgetSession(sessionId: string, attempt: Attempt): void {
    this.#drop((answer) => answer.sessionId === sessionId, attempt);
  }

  forgetOld(attempt: Attempt): void {
    this.#drop((answer) => !isKept(answer, attempt.now), attempt);
  }

  #drop(gone: (answer: Answer) => boolean, attempt: Attempt): void {
    for (const [key, answer] of [...this.#byKey]) {
      if (!gone(answer)) continue;
      attempt.delete(this.#byKey, key);
      for (const id of answer.ids) {
        const others = this.#byItem.get(id)?.filter((other) => other !== answer) ?? [];
        if (others.length > 0) attempt.set(this.#byItem, id, others);
        else attempt.delete(this.#byItem, id);
      }
    }
  }
}

/** Session ids hold no space, so no two pairs share a key. */
function keyOf(sessionId: string | undefined, key: string): string {
  return `${sessionId ?? ""} ${key}`;
}

function isKept(answer: Answer, now: number): boolean {
  return now < answer.at + ANSWER_KEPT_MS;
}
