/**
 * A process that forgets a user and is killed before it can purge the file: the forget is committed, and the forgotten
 * words are still to be merged out of the index. Its clock is two minutes behind, so that other processes consider it
 * long dead. Argument: the path of the file.
 */
import { type Clock, openMemory, systemClock } from "holdfast";
import { onOrder, report } from "../support/child.js";

const BEHIND_MS = 120_000;

export const FORGOTTEN = "zq-forgotten-wqxjkv";
/** Enough for words to be marked, and not removed at once. */
const MESSAGES = 400;

/** A word that occurs nowhere else. */
export const wordOf = (at: number): string => `zq${(at * 7_919 + 104_729).toString(36)}xv${at.toString(36)}k`;
export const WORDS: readonly string[] = Array.from({ length: MESSAGES }, (_, at) => wordOf(at));

const clock: Clock = {
  now: () => systemClock.now() - BEHIND_MS,
  passed: () => systemClock.passed(),
  after: (ms, work) => systemClock.after(ms, work),
};

async function run(path: string): Promise<void> {
  onOrder(() => undefined); // stays alive until it is killed
  const memory = await openMemory({ path, clock, buffer: { hybridBuffer: { embeddingModel: "none" } } });
  await memory.session({ user: "bob" }).add([{ role: "user", content: "bob stays" }]);
  const session = memory.session({ user: FORGOTTEN, session: "s" });
  await session.addBatch(WORDS.map((word) => [{ role: "user", content: `we spoke of ${word}` }]));
  const target = { space: { user: FORGOTTEN }, entry: true };
  for (let remaining = true; remaining; ) {
    const done = await memory.service.write({ op: "forget", target });
    remaining = done.op === "forget" && done.remaining;
  }
  report("forgotten");
}

if (process.argv[1]?.endsWith("forgetter.js")) await run(process.argv[2] as string);
