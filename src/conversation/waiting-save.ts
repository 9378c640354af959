/** Saves of one file in the order of the calls. One that still waits is overtaken by the next: only the newest is written. */
import { inLine } from "./waiting-line.js";

interface WaitingSave {
  text: string;
  readonly done: Promise<void>;
}

/** By file: the save that the next one may take the place of. */
const waiting = new Map<string, WaitingSave>();

/** Resolves when this text or a newer one is written. */
export function saveInLine(path: string, text: string, write: (text: string) => Promise<void>): Promise<void> {
  const earlier = waiting.get(path);
  if (earlier) {
    earlier.text = text;
    return earlier.done;
  }
  const done = inLine(path, () => {
    if (waiting.get(path) === save) waiting.delete(path);
    return write(save.text);
  });
  const save: WaitingSave = { text, done };
  waiting.set(path, save);
  return done;
}

/** A deletion: saves that come after it do not take the place of one that came before it. */
export function deleteInLine(path: string, remove: () => Promise<void>): Promise<void> {
  waiting.delete(path);
  return inLine(path, remove);
}
