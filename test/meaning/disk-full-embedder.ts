/** Adds and embeds until the disk is full and a little longer, then reports what was acknowledged. */
import { openMemory } from "holdfast";
import { HashEmbedder } from "../support/product.js";

const memory = await openMemory({ path: process.argv[2] as string, embedder: new HashEmbedder() });
const session = memory.session({ user: "ada", session: "s" });
const acknowledged: string[] = [];
let refused = 0;
for (let at = 0; at < 2_000 && refused < 5; at++) {
  try {
    const { ids } = await session.add([{ role: "user", content: `message ${at}. ${"Padding text. ".repeat(40)}` }]);
    acknowledged.push(...ids);
    if (at % 10 === 0) await session.flush();
  } catch {
    refused++;
  }
}
process.stdout.write(JSON.stringify({ acknowledged, refused }), () => process.exit(0));
