/** The embedder contract for MiniLM on each runtime. */
import { embedderConformance } from "holdfast/testing";
import { afterAll } from "vitest";
import { MiniLmEmbedder } from "./product.js";
import { messagesTold, threads } from "./threads.js";

for (const runtime of ["node", "web"] as const) {
  // Keeps the shared thread while the suite opens and closes embedders: loading takes longer than the tests.
  const keeper = new MiniLmEmbedder({ runtime });
  afterAll(() => keeper.close());

  embedderConformance({
    name: `MiniLM on onnxruntime-${runtime}`,
    async open() {
      await keeper.describe();
      const embedder = new MiniLmEmbedder({ runtime });
      const before = { told: messagesTold(), threads: threads.length };
      return {
        embedder,
        isUsed: () => messagesTold() > before.told || threads.length > before.threads,
        close: () => embedder.close(),
      };
    },
  });
}
