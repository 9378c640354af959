/** holdfast context: the context for a model's next turn. */
import type { Context } from "../../context/context.js";
import { renderAnthropic, renderOpenAI, renderText } from "../../context/render.js";
import type { Call } from "../call.js";
import { DEADLINE_MS } from "../deadline.js";
import { choiceFlag, type Definition, flag } from "../definition.js";
import { moment, TIME_FORM, wholeNumber } from "../flag-values.js";
import { styled } from "../output/style.js";

interface ContextFlags {
  readonly budget?: number;
  readonly counter?: string;
  readonly turns?: number;
  readonly limit?: number;
  readonly asOf?: string | number;
  readonly format: "text" | "openai" | "anthropic";
  readonly fresh?: boolean;
  readonly dryRun?: boolean;
}

export const contextCommand: Definition = {
  name: "context",
  args: "[query...]",
  argHelp: { query: "the current task; facts and memories are selected by it" },
  purpose: "Print the context for a model's next turn.",
  about:
    "Blocks, facts, memories and recent turns, within a token budget. With --session, a ledger records what the model has already seen, and that is not repeated. --fresh ignores the ledger.",
  options: [
    flag("--budget <tokens>", "maximum number of tokens (default: 2000)", wholeNumber),
    flag("--counter <name>", "how to count them: chars4, estimate, or the name of a model"),
    flag("--turns <n>", "number of the session's newest messages (default: 5)", wholeNumber),
    flag("-n, --limit <n>", "maximum number of memories, and of facts", wholeNumber),
    flag("--as-of <time>", `facts as of this time: ${TIME_FORM} ago`, moment),
    choiceFlag("--format <form>", "output format", ["text", "openai", "anthropic"]).default("text"),
    flag("--fresh", "ignore the ledger, and do not record anything"),
    flag("--dry-run", "do not record anything"),
  ],
  isScoped: true,
  isKeyed: true,
  examples: [
    'holdfast context "plan her weekend" --user ada --session monday --budget 1500',
    "holdfast context --user ada --format openai",
    'holdfast context "open questions" --team docs --dry-run --json',
  ],
  async run(call) {
    const { budget, counter, turns, limit, asOf, fresh, dryRun } = call.flags<ContextFlags>();
    const query = call.words;
    const options = {
      ...(query !== undefined && { query }),
      ...(budget !== undefined && { budgetTokens: budget }),
      ...(counter !== undefined && { counter }),
      ...(turns !== undefined && { turns }),
      ...(limit !== undefined && { topK: limit }),
      ...(asOf !== undefined && { asOf }),
      ...(fresh && { fresh }),
      ...(dryRun && { dryRun }),
      ...call.key,
      deadlineMs: DEADLINE_MS,
    };
    // Without a query nothing is recalled, so no model is needed.
    await call.withSession({ meaning: query !== undefined }, async (session) => {
      await print(call, await session.context(options));
    });
  },
};

async function print(call: Call, context: Context): Promise<void> {
  const { printer, scope } = call;
  const { format } = call.flags<ContextFlags>();
  const rendered = format === "openai" ? renderOpenAI(context) : renderAnthropic(context);
  if (printer.json) return printer.value({ scope, ...context, ...(format !== "text" && { [format]: rendered }) });
  if (format !== "text") return printer.value(rendered);
  const text = renderText(context);
  if (text !== "") await printer.body(printer.isTerminal ? text : `${text}\n`);
  const { total, budget, saved } = context.tokens;
  printer.note(styled("dim", `${total} of ${budget} tokens${saved > 0 ? `, ${saved} saved` : ""}`));
  if (text === "") printer.note("empty: nothing to add");
  if (context.partial)
    printer.note(styled("yellow", `partial: ${context.degraded ?? "not everything could be read in time"}`));
}
