/**
 * Topic: some agents ask with the newest messages joined into one text. The guess is the newest messages of the context
 * window, joined in the way that the session's last question was: how many of them, with or without roles.
 *
 * A query made of keywords or of a mean vector would find related items, too, but an answer may be served only to an
 * equal question, and nobody asks in keywords that the application did not write itself.
 */
import { normaliseQuestion } from "../../input/query.js";
import { Reasons } from "./confidence.js";
import type { Guess, Predictor, Said, Trace } from "./predictor.js";

interface Recipe {
  readonly messages: number;
  readonly hasRoles: boolean;
}

export class Topic implements Predictor {
  readonly name = "topic";
  readonly after = "added";
  /** Agents ask after the user's messages, but rarely after their own. */
  readonly #reasons = new Reasons();
  #recipe: Recipe;

  /** Requires a window of at least one message. */
  constructor(window: number) {
    this.#recipe = { messages: window, hasRoles: false };
  }

  guess({ said }: Trace): readonly Guess[] {
    if (said.length < 2) return [];
    return [{ text: joined(said, this.#recipe), confidence: this.#reasons.of(said.at(-1)?.role ?? "") }];
  }

  learn({ said, asked }: Trace): void {
    const text = asked.at(-1)?.text;
    for (let messages = 2; messages <= said.length; messages++) {
      for (const hasRoles of [false, true])
        if (joined(said, { messages, hasRoles }) === text) this.#recipe = { messages, hasRoles };
    }
  }
}

function joined(said: readonly Said[], { messages, hasRoles }: Recipe): string {
  const lines = said.slice(-messages).map(({ role, text }) => (hasRoles && role ? `${role}: ${text}` : text));
  return normaliseQuestion(lines.join("\n"));
}
