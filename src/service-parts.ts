/** The parts of a service that its opener supplies. */
import type { Embedder } from "./embedding/embedder.js";
import type { Extractor } from "./extraction/extractor.js";
import type { MemorySource } from "./memory-pressure.js";
import type { VectorIndex } from "./stores/vector-index.js";

/** The parts behind the service. The caller closes those that it passed in. */
export interface ServiceParts {
  /** Turns text into vectors. Without it, search uses words only. */
  readonly embedder?: Embedder | undefined;
  /** An external vector index. */
  readonly index?: VectorIndex | undefined;
  /** Finds facts in messages. */
  readonly extractor?: Extractor | undefined;
  /** The memory of the process; given by tests. */
  readonly memory?: MemorySource | undefined;
}
