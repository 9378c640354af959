/** Orders the saves of a file. A save that still waits is replaced by the next one, so only the newest is written. */
import { fileMutex } from "./file-mutex.js";

interface WaitingSave {
  text: string;
  readonly done: Promise<void>;
}

/** By file: the waiting save that the next one may replace. */
const waiting = new Map<string, WaitingSave>();

/** Resolves when this text or a newer one has been written. */
export function queueSave(path: string, text: string, write: (text: string) => Promise<void>): Promise<void> {
  const earlier = waiting.get(path);
  if (earlier) {
    earlier.text = text;
    return earlier.done;
  }
  const done = fileMutex.run(path, () => {
    if (waiting.get(path) === save) waiting.delete(path);
    return write(save.text);
  });
  const save: WaitingSave = { text, done };
  waiting.set(path, save);
  return done;
}

/** A deletion. Later saves do not replace one from before it. */
export function queueDelete(path: string, remove: () => Promise<void>): Promise<void> {
  waiting.delete(path);
  return fileMutex.run(path, remove);
}
