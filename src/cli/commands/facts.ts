/** holdfast facts: what is known, since when, and on whose word. */
import { HoldfastError } from "../../errors.js";
import { FACT_STATES, type Fact, type FactState } from "../../stores/facts.js";
import type { Call } from "../call.js";
import { choiceFlag, type Definition, flag, type Group } from "../definition.js";
import { gathered, moment, share, TIME_FORM, wholeNumber } from "../flag-values.js";
import { counted } from "../output/counted.js";
import { styled } from "../output/style.js";
import { shortOf } from "./item-lines.js";
import { noteNext, pageOf, pageOptions } from "./page-flags.js";

interface FactFlags {
  readonly category?: readonly string[];
  readonly state?: FactState;
  readonly pinned?: boolean;
  readonly asOf?: string | number;
  readonly limit?: number;
  readonly words?: boolean;
  readonly confidence?: number;
  readonly since?: string | number;
  readonly supersedes?: readonly string[];
  readonly message?: string;
  readonly force?: boolean;
  readonly at?: string | number;
}

const categoryFlag = () => flag("--category <name>", "only of this category; may be given several times", gathered);
const asOfFlag = () => flag("--as-of <time>", `those that held then: ${TIME_FORM} ago`, moment);

function chosen({ category, asOf }: FactFlags) {
  return { ...(category !== undefined && { category }), ...(asOf !== undefined && { asOf }) };
}

const list: Definition = {
  name: "list",
  purpose: "List facts; those that hold, if nothing else is said.",
  options: [
    categoryFlag(),
    choiceFlag("--state <state>", "those that hold, have ended, or were retracted (default: holds)", FACT_STATES),
    flag("--pinned", "only pinned ones, which stand in every context"),
    asOfFlag(),
    ...pageOptions("facts"),
  ],
  isScoped: true,
  examples: ["holdfast facts list --user ada", "holdfast facts list --user ada --as-of 2026-01-01 --category home"],
  async run(call) {
    const flags = call.flags<FactFlags>();
    const { state, pinned } = flags;
    const options = { ...pageOf(call), ...chosen(flags), ...(state && { state }), ...(pinned && { pinned }) };
    await call.withSession({}, async (session) => {
      const page = await session.facts.list(options);
      if (call.printer.json) return call.printer.value({ scope: call.scope, ...page });
      await printFacts(call, page.items);
      noteNext(call, page, "facts");
    });
  },
};

const query: Definition = {
  name: "query",
  args: "<text...>",
  argHelp: { text: "the question" },
  purpose: "Find the facts that a question is about, best first.",
  options: [
    flag("-n, --limit <n>", "how many at most (default: 10)", wholeNumber),
    categoryFlag(),
    asOfFlag(),
    flag("--words", "by words alone: the model is not loaded"),
  ],
  isScoped: true,
  examples: [
    'holdfast facts query "where does she live?" --user ada',
    "holdfast facts query home --as-of 1y --user ada",
  ],
  async run(call) {
    const flags = call.flags<FactFlags>();
    const options = { ...chosen(flags), ...(flags.limit !== undefined && { topK: flags.limit }) };
    if (flags.words) await call.file("--words");
    await call.withSession({ meaning: !flags.words }, async (session) => {
      const facts = await session.facts.query(call.words ?? "", options);
      if (call.printer.json) return call.printer.value({ scope: call.scope, facts });
      await printFacts(call, facts);
      if (facts.length === 0) call.printer.note("nothing found");
    });
  },
};

const add: Definition = {
  name: "add",
  args: "<category> <text...>",
  argHelp: { category: "such as home or preference", text: "what is known" },
  purpose: "Record that a fact holds. The same fact again updates it.",
  options: [
    flag("--confidence <share>", "how certain it is, 0 to 1 (default: 1)", share),
    flag("--since <time>", `since when it holds (default: now): ${TIME_FORM} ago`, moment),
    flag("--supersedes <id>", "a fact that it replaces; may be given several times", gathered),
    flag("--message <id>", "the message that it rests on: forgotten together"),
    flag("--pinned", "let it stand in every context"),
    flag("--force", "also if it was retracted"),
  ],
  isScoped: true,
  examples: [
    'holdfast facts add home "Ada lives in Lisbon" --user ada',
    'holdfast facts add diet "no nuts" --user ada --pinned',
  ],
  async run(call) {
    const { confidence, since, supersedes, message, pinned, force } = call.flags<FactFlags>();
    const [category = "", ...text] = call.args;
    const fact = {
      category,
      content: text.join(" "),
      ...(confidence !== undefined && { confidence }),
      ...(since !== undefined && { validFrom: since }),
      ...(supersedes !== undefined && { supersedes }),
      ...(message !== undefined && { source: { message } }),
      ...(pinned && { pinned }),
      ...(force && { force }),
    };
    await call.withSession({ create: true }, async (session) => {
      const outcome = await session.facts.upsert(fact);
      if (call.printer.json) return call.printer.value(outcome);
      await call.printer.line(outcome.fact.id);
      call.printer.note(styled("green", `${outcome.outcome}: ${outcome.fact.category}`));
    });
  },
};

const end: Definition = {
  name: "end",
  args: "<id>",
  argHelp: { id: "the fact" },
  purpose: "Say that a fact holds no longer. Its past stays.",
  options: [flag("--at <time>", `since when (default: now): ${TIME_FORM} ago`, moment)],
  isScoped: true,
  examples: ["holdfast facts end fact-3f2a1b4c5d6e --user ada --at 2026-05-01"],
  async run(call) {
    const { at } = call.flags<FactFlags>();
    await call.withSession({}, async (session) => {
      await printOne(call, await session.facts.end(call.arg(0), at === undefined ? {} : { at }));
    });
  },
};

const retract: Definition = {
  name: "retract",
  args: "<id>",
  argHelp: { id: "the fact" },
  purpose: "Say that a fact was never right.",
  about: "Offered again it stays retracted, unless forced.",
  isScoped: true,
  examples: ["holdfast facts retract fact-3f2a1b4c5d6e --user ada"],
  async run(call) {
    await call.withSession({}, async (session) => printOne(call, await session.facts.retract(call.arg(0))));
  },
};

const extract: Definition = {
  name: "extract",
  purpose: "Have a language model read a session and record facts.",
  about:
    "It reads what was said since the last time. Needs --session, and a model in the configuration: extraction.base_url and extraction.model.",
  options: [flag("-n, --limit <n>", "read at most so many messages (default: all that are new)", wholeNumber)],
  isScoped: true,
  examples: ["holdfast facts extract --user ada --session monday --config holdfast.yaml"],
  async run(call) {
    const { limit } = call.flags<FactFlags>();
    if (call.scope.session === undefined) {
      throw new HoldfastError("invalid_input", "no session is named", {
        hint: "facts are extracted per session: --session NAME",
      });
    }
    await call.withSession({}, async (session) => {
      const options = { signal: call.io.signal, ...(limit !== undefined && { limit }) };
      const extraction = await session.facts.extract(options);
      if (call.printer.json) return call.printer.value(extraction);
      await printFacts(call, extraction.facts);
      call.printer.note(`${counted(extraction.messages, "message")} read, ${counted(extraction.facts.length, "fact")}`);
      for (const { why } of extraction.refused) call.printer.note(styled("yellow", `not taken: ${why}`));
    });
  },
};

async function printOne(call: Call, fact: Fact): Promise<void> {
  if (call.printer.json) return call.printer.value(fact);
  await call.printer.line(`${fact.state}: ${fact.content}`);
}

async function printFacts(call: Call, facts: readonly Fact[]): Promise<void> {
  if (facts.length === 0) return;
  if (call.printer.isTerminal) {
    for (const fact of facts) await printFact(call, fact);
    return;
  }
  const names = ["ID", "CATEGORY", "STATE", "SINCE", "SURE", "FACT"];
  const rows = facts.map(({ id, category, state, spans, confidence, pinned, content }) => [
    id,
    category,
    pinned ? `${state}, pinned` : state,
    call.time(spans.at(-1)?.from ?? 0),
    confidence.toFixed(2),
    content,
  ]);
  await call.printer.table(
    names.map((name) => ({ name })),
    rows,
  );
}

async function printFact(call: Call, fact: Fact): Promise<void> {
  const { id, category, state, spans, confidence, pinned, content } = fact;
  const sure = confidence === 1 ? [] : [`sure ${confidence.toFixed(2)}`];
  const marks = [state, ...(pinned ? ["pinned"] : []), `since ${call.time(spans.at(-1)?.from ?? 0)}`, ...sure, id];
  await call.printer.line(styled("bold", category), styled("dim", `  ${marks.join("  ")}`));
  await call.printer.cutLine("   ", shortOf(content));
}

export const factsGroup: Group = {
  name: "facts",
  purpose: "What is known, since when, and on whose word.",
  commands: [list, query, add, end, retract, extract],
};
