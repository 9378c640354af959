/** memory_context: what is worth knowing before the next turn, within a budget, and not twice in one session. */
import { z } from "zod";
import { renderText } from "../../context/render.js";
import { ContextOptionsSchema, ContextSchema } from "../../schemas/query.js";
import { estimateTokens } from "../../tokens/estimate.js";
import { excerpt } from "../fill.js";
import { tool } from "../tool.js";

const BUDGET_TOKENS = 1_500;
/** Of what an answer may have: as JSON the same text is longer, by its line ends and quotes. */
const TEXT_SHARE = 2 / 3;
/** Names of fields, and numbers. */
const FRAME_TOKENS = 40;

export const contextTool = tool({
  name: "memory_context",
  title: "Recall for this turn",
  description:
    "Get what matters for the task at hand in one text: memory blocks, facts that hold, related memories, recent turns. Call it once at the start of a task, with the task in `query`, and again when the subject changes. What it gave before in this session is left out, as long as it holds; after your context was compacted or cleared, set `fresh`. Use it to begin; use memory_search for a single question.",
  access: "read",
  input: z.strictObject({
    query: ContextOptionsSchema.shape.query,
    budgetTokens: ContextOptionsSchema.shape.budgetTokens
      .unwrap()
      .exactOptional()
      .meta({
        description: `${BUDGET_TOKENS} if left out`,
      }),
    fresh: z.boolean().exactOptional().meta({ description: "Your window is empty: give everything again" }),
  }),
  output: ContextSchema.pick({ prefix: true, tail: true, partial: true }).extend({
    tokens: z.number().meta({ description: "Of both" }),
  }),
  async run({ session, maxTokens, may }, { query, budgetTokens = BUDGET_TOKENS, fresh }) {
    const keepsWindow = session.scope.session !== undefined && may("write");
    if (fresh && keepsWindow) await session.windowReset();
    const context = await session.context({
      ...(query !== undefined && { query }),
      ...(!may("write") && { dryRun: true, fresh: fresh === true }),
      budgetTokens: Math.min(budgetTokens, Math.ceil(maxTokens * TEXT_SHARE)),
    });
    const { partial, tokens } = context;
    const prefix = excerpt(context.prefix, maxTokens / 2 - FRAME_TOKENS).text;
    const tail = excerpt(context.tail, maxTokens - FRAME_TOKENS - estimateTokens(JSON.stringify(prefix))).text;
    return { data: { prefix, tail, partial, tokens: tokens.total }, text: renderText(context) || NOTHING };
  },
});

const NOTHING = "Nothing to add: there is nothing on this, or you were given it already in this session.";
