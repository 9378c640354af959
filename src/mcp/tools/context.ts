/** memory_context: what to know before the next turn, within a budget, without repetition in one session. */
import { z } from "zod";
import type { Context } from "../../context/context.js";
import { isMadeId } from "../../context/piece.js";
import { renderText } from "../../context/render.js";
import { HoldfastError } from "../../errors.js";
import type { ContextOptions } from "../../input/context.js";
import { ContextOptionsSchema, ContextSchema } from "../../schemas/query.js";
import type { Session } from "../../session.js";
import { ESTIMATE, estimateTokens } from "../../tokens/estimate.js";
import { listed } from "../rendering.js";
import { tool } from "../tool.js";

const BUDGET_TOKENS = 1_500;
const BUDGET_TOKENS_MIN = 50;
/** Share of the answer's limit. In JSON the same text is up to twice as long, because of line breaks and quotes. */
const TEXT_SHARE = 1 / 2;
/** Blocks belong in every conversation: they come first, and get up to half. */
const SHARES = { blocks: 0.5, facts: 0.1, turns: 0.1, recall: 0.3 };
/** Number of ids that are listed without their text, for lack of room. */
const NAMED_MAX = 5;

export const contextTool = tool({
  name: "memory_context",
  title: "Recall for this turn",
  description:
    "Get what matters for the task at hand in one text: memory blocks, current facts, related memories, recent turns. Call it once at the start of a task, with the task in `query`, and again when the subject changes. Blocks come each time; other things that it returned before in this session are omitted while they are still true: after your context was compacted or cleared, set `fresh`. Use it to begin; use memory_search for a single question.",
  access: "read",
  isRecording: true,
  input: z.strictObject({
    query: ContextOptionsSchema.shape.query,
    budgetTokens: z
      .int()
      .min(BUDGET_TOKENS_MIN)
      .exactOptional()
      .meta({
        description: `Default: ${BUDGET_TOKENS}`,
      }),
    fresh: z.boolean().exactOptional().meta({ description: "Your context was cleared: return everything again" }),
  }),
  output: ContextSchema.pick({ prefix: true, tail: true, partial: true }).extend({
    tokens: z.number().meta({ description: "Of the text, estimated" }),
  }),
  async run({ session, maxTokens, may }, { query, budgetTokens = BUDGET_TOKENS, fresh = false }) {
    const options: ContextOptions = {
      ...(query !== undefined && { query }),
      budgetTokens: Math.min(budgetTokens, Math.floor(maxTokens * TEXT_SHARE)),
      counter: ESTIMATE,
      shares: SHARES,
    };
    const context = may("write") ? await given(session, options, fresh) : await shown(session, options, fresh);
    const { prefix, partial } = context;
    const tail = withWholeIds(context);
    const notes = notesOf(context);
    const text = [renderText({ prefix, tail }), ...notes].filter((part) => part !== "").join("\n");
    return { data: { prefix, tail, partial, tokens: estimateTokens(text) }, text: text || NOTHING };
  },
});

/** The context is recorded in the ledger, so that it is not repeated. With a read-only key it is not recorded. */
async function given(session: Session, options: ContextOptions, fresh: boolean): Promise<Context> {
  try {
    if (fresh && session.scope.session !== undefined) await session.windowReset();
    return await session.context(options);
  } catch (error) {
    if (!(error instanceof HoldfastError && error.code === "forbidden")) throw error;
    return shown(session, options, fresh);
  }
}

const shown = (session: Session, options: ContextOptions, fresh: boolean): Promise<Context> =>
  session.context({ ...options, dryRun: true, fresh });

/** A context shortens our own ids to their ends; to read on, or to forget one, the model needs the full id. */
function withWholeIds({ tail, added, changed }: Context): string {
  const made = [...added, ...changed].filter(({ id }) => isMadeId(id));
  const whole = new Map(made.map(({ id }) => [id.slice(-SHOWN_UNITS), id]));
  return tail.replaceAll(
    /^(\[\w+ )([0-9a-f]{8})(?=[ \]])/gm,
    (_, head: string, end: string) => head + (whole.get(end) ?? end),
  );
}
const SHOWN_UNITS = 8;

function notesOf({ left, partial, degraded }: Context): readonly string[] {
  const unfit = left.filter(({ why }) => why.startsWith("no room in"));
  const blocks = unfit.filter(({ part }) => part === "blocks").length;
  const ids = [...new Set(unfit.filter(({ part }) => part !== "blocks").map(({ id }) => id))];
  return [
    ...(blocks > 0 ? [`[${blocks} more blocks, which did not fit: memory_block view]`] : []),
    ...(ids.length > 0
      ? [listed(`[${ids.length} more found, too long for the budget: memory_get]`, ids.slice(0, NAMED_MAX))]
      : []),
    ...(degraded === undefined ? [] : ["[searched by words only: the embedding model is unavailable]"]),
    ...(partial ? ["[partial: the newest memories were searched by words only; memory_search may find more]"] : []),
  ];
}

const NOTHING = "Nothing to add: there is nothing about this, or you already received it in this session.";
