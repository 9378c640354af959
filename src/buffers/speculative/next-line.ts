/** NextLine: agents add the user's message and then ask for it, so the message just added is the next question. */
import type { Guess, Predictor, Trace } from "./predictor.js";

export class NextLine implements Predictor {
  readonly name = "next_line";
  readonly after = "added";

  guess({ said }: Trace): readonly Guess[] {
    const last = said.at(-1);
    return last?.role === "user" ? [{ text: last.text }] : [];
  }
}
