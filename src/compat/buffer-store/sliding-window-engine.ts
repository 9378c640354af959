/**
 * The sliding-window engine: `compact` delivers the oldest turns and returns the rest as the new window.
 *
 * ```ts
 * const engine = new SlidingWindowEngine({ buffer, backend, compactThreshold: 0.5 });
 * const { result } = await engine.compact({ tokenBudget: 8_000, currentTokenCount });
 * if (result) history = result.messages;
 * ```
 *
 * Invariant: the buffer contains the turns of the window. So after a crash they are still there, and the next
 * compaction returns them.
 */
import { parseInteger } from "../../input/integer.js";
import { invalid } from "../../input/refusal.js";
import { estimateTokens } from "../../tokens/estimate.js";
import type { CompactParams, CompactResult } from "./compaction.js";
import { ContextEngine, type ContextEngineOptions } from "./context-engine.js";
import { episodeOf, type JsonMessage } from "./contexto-backend.js";

/** The options of a `SlidingWindowEngine`. */
export interface SlidingWindowOptions<Message extends object = JsonMessage> extends ContextEngineOptions<Message> {
  /**
   * The share of the token budget, over 0 and at most 1, above which turns are evicted until the window is below it. Default:
   * 0.5. Lower: turns leave the window sooner. Higher: less room for the next turn.
   */
  readonly compactThreshold?: number;
}

const THRESHOLD = 0.5;

/** A context engine that evicts the oldest turns above a share of the token budget. */
export class SlidingWindowEngine<Message extends object = JsonMessage> extends ContextEngine<Message> {
  readonly ownsCompaction = true;
  readonly #threshold: number;

  constructor(options: SlidingWindowOptions<Message>) {
    super(options, ["compactThreshold"]);
    this.#threshold = parseThreshold(options.compactThreshold ?? THRESHOLD);
  }

  /** Evicts whole turns, oldest first, but not the newest one, unless forced. */
  async compact(params: CompactParams = {}): Promise<CompactResult<Message>> {
    const budget = this.begin(params);
    const { currentTokenCount, force = false } = params;
    if (budget === undefined) {
      throw invalid("tokenBudget", "is missing", "give it here, or to an earlier call of this engine");
    }
    if (currentTokenCount !== undefined)
      parseInteger(currentTokenCount, "currentTokenCount", 0, Number.MAX_SAFE_INTEGER);
    const limit = Math.floor(budget * this.#threshold);
    return this.exclusively(async () => {
      const entries = this.state.buffer.getAll();
      if (entries.length === 0) return { compacted: false, reason: "nothing to compact" };
      const sizes = entries.map((entry) => estimateTokens(JSON.stringify(episodeOf(entry).data.messages)));
      const tokensBefore = currentTokenCount ?? sizes.reduce((sum, size) => sum + size, 0);
      if (tokensBefore <= limit && !force) return { compacted: false, reason: "below compact threshold" };

      const evictable = sizes.slice(0, force ? sizes.length : -1);
      let evicted = 0;
      let tokensAfter = tokensBefore;
      for (const size of evictable) {
        if (tokensAfter <= limit && !(force && evicted === 0)) break;
        tokensAfter = Math.max(0, tokensAfter - size);
        evicted++;
      }
      if (evicted === 0) return { compacted: false, reason: "no messages to evict" };
      await this.deliver(entries.slice(0, evicted));
      // Turns may have been added meanwhile.
      const messages = this.state.buffer.getAll().flatMap((entry) => episodeOf<Message>(entry).data.messages);
      return {
        compacted: true,
        reason: "ingested and evicted messages",
        result: { messages, tokensBefore, tokensAfter },
      };
    });
  }
}

function parseThreshold(threshold: unknown): number {
  if (typeof threshold === "number" && threshold > 0 && threshold <= 1) return threshold;
  throw invalid("options.compactThreshold", "must be a number over 0 and at most 1");
}
