/** How much of its budget a block takes. Counted here if its counter needs no vocabulary. */
import type { Block } from "holdfast/client";
import { count } from "../../parts/format.js";

const GRAPHEMES_PER_TOKEN = 4;
const COUNTED_MAX = 200_000;
const GRAPHEMES = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Undefined if only the server can count it. */
export function tokensOf({ counter, content }: Pick<Block, "counter" | "content">): number | undefined {
  if (counter !== "chars4" || content.length > COUNTED_MAX) return undefined;
  return Math.ceil(Array.from(GRAPHEMES.segment(content)).length / GRAPHEMES_PER_TOKEN);
}

export function Budget({ block }: { readonly block: Pick<Block, "counter" | "content" | "maxTokens"> }) {
  const { counter, maxTokens } = block;
  const tokens = tokensOf(block);
  if (tokens === undefined) {
    return (
      <p class="muted small">
        at most {count(maxTokens)} tokens of {counter}
      </p>
    );
  }
  const share = tokens / maxTokens;
  return (
    <div class="block-budget">
      <span class="block-meter" aria-hidden="true">
        <span class={share > 1 ? "over" : ""} style={{ width: `${Math.min(100, 100 * share)}%` }} />
      </span>
      <span class={`small number ${share > 1 ? "over-words" : "muted"}`}>
        {count(tokens)} of {count(maxTokens)} tokens{share > 1 && ", over its budget"}
      </span>
    </div>
  );
}
