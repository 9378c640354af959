/** A guarded embedder keeps the Embedder contract. */
import { embedderConformance } from "../testing/embedder-conformance.js";
import { HashEmbedder } from "../testing/hash-embedder.js";
import { GuardedEmbedder } from "./guarded.js";

embedderConformance({
  name: "a guarded embedder",
  open: async () => {
    const inner = new HashEmbedder();
    const embedder = new GuardedEmbedder(inner);
    return {
      embedder,
      isUsed: () => inner.calls + inner.descriptions > 0,
      close: () => embedder.close(),
    };
  },
});
