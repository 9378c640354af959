/** holdfast context: what a model is given before its next turn. */
import type { Context } from "../../context/context.js";
import { renderAnthropic, renderOpenAI, renderText } from "../../context/render.js";
import type { Call } from "../call.js";
import { choiceFlag, type Definition, flag } from "../definition.js";
import { moment, TIME_FORM, wholeNumber } from "../flag-values.js";
import { styled } from "../output/style.js";
import { PATIENCE_MS } from "../patience.js";

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
  argHelp: { query: "what it is for: facts and recalled text are chosen by it" },
  purpose: "Print what to give a model before its next turn.",
  about:
    "Blocks, facts, recalled text and recent turns, within a budget. With --session, what was given before is not given again: the session's window is remembered. --fresh starts from an empty one.",
  options: [
    flag("--budget <tokens>", "how many tokens at most (default: 2000)", wholeNumber),
    flag("--counter <name>", "what counts them: chars4, estimate, or the name of a model"),
    flag("--turns <n>", "how many of the session's newest messages (default: 5)", wholeNumber),
    flag("-n, --limit <n>", "how many recalled items, and facts, at most", wholeNumber),
    flag("--as-of <time>", `facts that held then: ${TIME_FORM} ago`, moment),
    choiceFlag("--format <form>", "for which model", ["text", "openai", "anthropic"]).default("text"),
    flag("--fresh", "as if the model's window were empty; remembers nothing"),
    flag("--dry-run", "show what would be given; remembers nothing"),
  ],
  isScoped: true,
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
      deadlineMs: PATIENCE_MS,
    };
    // Without a question nothing is recalled, and no model is needed.
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
  if (text === "") printer.note("nothing to give");
  if (context.partial)
    printer.note(styled("yellow", `partial: ${context.degraded ?? "something could not be read in time"}`));
}
