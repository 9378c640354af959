/**
 * A process that uses a file. Arguments: the path, and what it does.
 *
 * - hold: adds a message while its embedder does not answer, and so keeps a lease for as long as it lives.
 * - write: adds rounds as fast as it can, and reports the number of rounds on request.
 */
import { openMemory } from "holdfast";
import { onOrder, report } from "../support/child.js";
import { HashEmbedder } from "../support/product.js";
import { type Order, ROUND } from "./user.js";

const [path = "", role] = process.argv.slice(2);
await (role === "hold" ? hold() : write());

async function hold(): Promise<void> {
  onOrder(() => undefined);
  const embedder = new HashEmbedder();
  embedder.stall();
  const memory = await openMemory({ path, embedder });
  await memory.session({ user: "ada", session: "held" }).add([{ role: "user", content: "never embedded" }]);
  report({ ready: true });
}

async function write(): Promise<void> {
  const memory = await openMemory({ path });
  const session = memory.session({ user: "eve", session: "busy" });
  let [rounds, isStopped] = [0, false];
  onOrder<Order>((order) => {
    if (order === "mark") report({ rounds });
    else isStopped = true;
  });
  report({ ready: true });
  while (!isStopped) {
    const content = `round ${rounds}`;
    await session.add(Array.from({ length: ROUND }, () => ({ role: "user" as const, content })));
    rounds++;
  }
  await memory.close();
  process.exit();
}
