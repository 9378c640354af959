/** The default engine: delivers every buffered episode on `compact`, and leaves the window to the host. */
import type { CompactParams, CompactResult } from "./compaction.js";
import { ContextEngine } from "./context-engine.js";

export class DefaultContextEngine extends ContextEngine {
  readonly ownsCompaction = false;

  async compact(params: CompactParams = {}): Promise<CompactResult> {
    this.begin(params);
    return this.exclusively(async () => {
      const entries = this.state.buffer.getAll();
      await this.deliver(entries);
      return { compacted: false, reason: entries.length === 0 ? "nothing to compact" : "delegated to runtime" };
    });
  }
}
