/** A process that uses a QdrantIndex, closes it, and then has nothing more to do. */
import { QdrantIndex } from "holdfast/qdrant";
import { report } from "../support/child.js";

export interface Leaving {
  /** What keeps the process alive after the close. */
  readonly resources: readonly string[];
}

const [url = "", how] = process.argv.slice(2);
const index = new QdrantIndex({ url, timeoutMs: 600_000 });
await index.prepare({ model: "m", runtime: "r", dimensions: 2 });
const search = () => index.search({ spaceIds: ["a"], vector: Float32Array.of(1, 0), limit: 1 });
await Promise.all([search(), search()]);
const order = () => new Promise((resolve) => process.once("message", resolve));
if (how === "in the middle of a search") {
  report("ready");
  await order();
  search().catch(() => undefined); // it is given up, as it should be
  await order();
  process.disconnect();
}
await index.close();
await new Promise((resolve) => setImmediate(resolve)); // the client lets go of idle sockets one turn after an answer
report({ resources: process.getActiveResourcesInfo() } satisfies Leaving);
