/**
 * A program that reports which source files run during one `session.query` and one `session.add`, in all threads together.
 * Its arguments are the folder of an unbundled build, so that storage threads load modules one by one, and a file to open.
 */
import { Session } from "node:inspector/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { FakeClock, HashEmbedder } from "holdfast/testing";
import { onOrder, report } from "../support/child.js";

export interface Covered {
  readonly query: readonly string[];
  readonly add: readonly string[];
}

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly ranges: readonly [{ readonly startOffset: number; readonly count: number }];
    }[];
  }[];
}

interface ThreadMessage {
  readonly id: number;
  readonly result: unknown;
}

const [folder = "", path = ""] = process.argv.slice(2);
onOrder(() => undefined); // keeps the process alive, and ends it with its parent

const inspector = new Session();
const threads = new Set<string>();
const waiting = new Map<number, (result: unknown) => void>();
inspector.connect();
inspector.on("NodeWorker.attachedToWorker", ({ params }) => threads.add(params.sessionId));
inspector.on("NodeWorker.receivedMessageFromWorker", ({ params }) => {
  const { id, result } = JSON.parse(params.message) as ThreadMessage;
  waiting.get(id)?.(result);
});
await inspector.post("NodeWorker.enable", { waitForDebuggerOnStart: false });

/** Calls V8's profiler in this thread and in all others. */
function profile(method: string, params: object = {}): Promise<readonly unknown[]> {
  const inThreads = [...threads].map((sessionId, at) => {
    const id = waiting.size + at;
    const message = JSON.stringify({ id, method, params });
    const answered = new Promise((resolve) => waiting.set(id, resolve));
    return inspector.post("NodeWorker.sendMessageToWorker", { sessionId, message }).then(() => answered);
  });
  return Promise.all([inspector.post(method as "Profiler.startPreciseCoverage", params), ...inThreads]);
}

/** The files in which a function runs during `act`. A module's own body, which runs when it is loaded, is no function. */
async function filesOf(act: () => Promise<unknown>): Promise<readonly string[]> {
  await profile("Profiler.takePreciseCoverage"); // sets all counts to 0
  await act();
  const prefix = pathToFileURL(join(folder, "/")).href;
  const files = ((await profile("Profiler.takePreciseCoverage")) as readonly Coverage[])
    .flatMap(({ result }) => result)
    .filter(({ url, functions }) => {
      const isRun = functions.some(({ ranges: [whole] }) => whole.startOffset > 0 && whole.count > 0);
      return isRun && url.startsWith(prefix);
    })
    .map(({ url }) => url.slice(prefix.length).replace(/js$/, "ts"));
  return [...new Set(files)].sort();
}

const { openMemory } = (await import(pathToFileURL(join(folder, "index.js")).href)) as typeof import("holdfast");
// No time passes, and nothing is embedded by itself: the work of other moments is on no path, however long the paths take.
const started = performance.now();
performance.now = () => started;
const buffer = { roundBuffer: { eager: false } };
const memory = await openMemory({ path, clock: new FakeClock(), embedder: new HashEmbedder(), buffer });
const session = memory.session({ user: "ada", session: "monday" });
for (const content of ["I moved to Lisbon in May.", "My dog is called Bruno.", "The ferry was late."])
  await session.add([{ role: "user", content }]);
await memory.flush();
for (const text of ["where do I live?", "the dog's name"]) await session.query(text);
await profile("Profiler.enable");
await profile("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
const query = await filesOf(() => session.query("who moved to Portugal, and when?"));
const add = await filesOf(() => session.add([{ role: "user", content: "I like tea." }]));
report({ query, add } satisfies Covered);
await memory.close();
process.exit();
