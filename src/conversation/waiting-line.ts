/** Turn-taking inside this process: works that share a key are done one after another, in the order of the calls. */

/** By key: resolves when the last work that was asked for has ended; never rejects. */
const lines = new Map<string, Promise<void>>();

/** Does the work when all that came before it has ended, well or badly. A key costs nothing once its line is empty. */
export function inLine<T>(key: string, work: () => Promise<T>): Promise<T> {
  const done = (lines.get(key) ?? Promise.resolve()).then(work);
  const ended: Promise<void> = done.then(
    () => leave(key, ended),
    () => leave(key, ended), // its own caller is told
  );
  lines.set(key, ended);
  return done;
}

function leave(key: string, ended: Promise<void>): void {
  if (lines.get(key) === ended) lines.delete(key);
}
