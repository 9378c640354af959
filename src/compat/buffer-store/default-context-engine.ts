/** The default engine: delivers every buffered episode on `compact`, and leaves the window to the host. */
import type { CompactParams, CompactResult } from "./compaction.js";
import { ContextEngine } from "./context-engine.js";
import type { JsonMessage } from "./contexto-backend.js";

/** A context engine that leaves the window to the host; `compact` delivers what is buffered. */
export class DefaultContextEngine<Message extends object = JsonMessage> extends ContextEngine<Message> {
  readonly ownsCompaction = false;

  async compact(params: CompactParams = {}): Promise<CompactResult<Message>> {
    this.begin(params);
    return this.exclusively(async () => {
      const entries = this.state.buffer.getAll();
      await this.deliver(entries);
      return { compacted: false, reason: entries.length === 0 ? "nothing to compact" : "delegated to runtime" };
    });
  }
}
