/**
 * A process that accepts messages while its embedder does not answer, and reports its memory use: after a warm-up, and
 * with the whole backlog. Then the embedder continues, and the memory is closed without waiting for it. Argument: the
 * path of the file.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { openMemory } from "holdfast";
import { report } from "../support/child.js";
import { HashEmbedder } from "../support/product.js";

export const MESSAGES = 50_000;
const WARM_UP = 2_000;
const SESSIONS = 25;
const ROUNDS_PER_CALL = 100;
const CALLS_AT_ONCE = 4;

export interface Hoard {
  /** Resident bytes, after a collection of garbage: after the warm-up, and with everything added. */
  readonly before: number;
  readonly after: number;
  /** The most seen on the way, uncollected. */
  readonly peak: number;
  /** Calls that the embedder held back at the end, and items that were embedded by then. */
  readonly heldCalls: number;
  readonly embeddedMeanwhile: number;
  /** What `close` says is left. */
  readonly pending: number;
  readonly parked: number;
}

async function run(path: string): Promise<void> {
  const embedder = new HashEmbedder();
  const release = embedder.stall();
  const memory = await openMemory({ path, embedder, buffer: { closeMs: 0 } });
  let peak = 0;
  let added = 0;

  const addUntil = async (end: number): Promise<void> => {
    const caller = async (): Promise<void> => {
      while (added < end) {
        const first = added;
        added += ROUNDS_PER_CALL;
        const session = memory.session({ user: "ada", session: `session ${(first / ROUNDS_PER_CALL) % SESSIONS}` });
        await session.addBatch(Array.from({ length: ROUNDS_PER_CALL }, (_, at) => [messageOf(first + at)]));
        peak = Math.max(peak, process.memoryUsage.rss());
      }
    };
    await Promise.all(Array.from({ length: CALLS_AT_ONCE }, caller));
  };

  await addUntil(WARM_UP);
  const before = weigh();
  await addUntil(MESSAGES);
  const after = weigh();
  const heldCalls = embedder.waiting;
  const { store } = await memory.stats();
  release();
  const { pending, parked } = await memory.close();
  report({ before, after, peak, heldCalls, embeddedMeanwhile: store.embedded, pending, parked } satisfies Hoard);
}

const messageOf = (number: number) => ({
  role: "user" as const,
  content: `Message ${number} says that the quiet river carries small boats past old houses, while children count ${number % 97} clouds.`,
});

/** What the process holds that it could not let go of. */
function weigh(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  return process.memoryUsage.rss();
}

if (process.argv[1]?.endsWith("hoarder.js")) await run(process.argv[2] as string);
