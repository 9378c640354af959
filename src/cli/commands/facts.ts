/** holdfast facts: what is known, since when, and from which source. */
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

const categoryFlag = () => flag("--category <name>", "only this category; repeatable", gathered);
const asOfFlag = () => flag("--as-of <time>", `facts as of this time: ${TIME_FORM} ago`, moment);

function chosen({ category, asOf }: FactFlags) {
  return { ...(category !== undefined && { category }), ...(asOf !== undefined && { asOf }) };
}

const list: Definition = {
  name: "list",
  purpose: "List facts; by default those that currently hold.",
  options: [
    categoryFlag(),
    choiceFlag("--state <state>", "current, ended or retracted facts (default: holds)", FACT_STATES),
    flag("--pinned", "only pinned facts, which are part of every context"),
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
  purpose: "Find the facts that answer a question, best first.",
  options: [
    flag("-n, --limit <n>", "maximum number of facts (default: 10)", wholeNumber),
    categoryFlag(),
    asOfFlag(),
    flag("--words", "search by words only, without loading the model"),
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
  argHelp: { category: "such as home or preference", text: "the fact" },
  purpose: "Record a fact. Recording the same fact again updates it.",
  options: [
    flag("--confidence <share>", "confidence, 0 to 1 (default: 1)", share),
    flag("--since <time>", `since when it has held (default: now): ${TIME_FORM} ago`, moment),
    flag("--supersedes <id>", "a fact that it replaces; repeatable", gathered),
    flag("--message <id>", "its source message; they are forgotten together"),
    flag("--pinned", "include it in every context"),
    flag("--force", "record it even if it was retracted"),
  ],
  isScoped: true,
  isKeyed: true,
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
      const outcome = await session.facts.upsert(fact, call.key);
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
  purpose: "End a fact that no longer holds. Its history is kept.",
  options: [flag("--at <time>", `when it ended (default: now): ${TIME_FORM} ago`, moment)],
  isScoped: true,
  isKeyed: true,
  examples: ["holdfast facts end fact-3f2a1b4c5d6e --user ada --at 2026-05-01"],
  async run(call) {
    const { at } = call.flags<FactFlags>();
    await call.withSession({}, async (session) => {
      await printOne(call, await session.facts.end(call.arg(0), { ...call.key, ...(at !== undefined && { at }) }));
    });
  },
};

const retract: Definition = {
  name: "retract",
  args: "<id>",
  argHelp: { id: "the fact" },
  purpose: "Retract a fact that was never right.",
  about: "Adding it again does nothing without --force.",
  isScoped: true,
  isKeyed: true,
  examples: ["holdfast facts retract fact-3f2a1b4c5d6e --user ada"],
  async run(call) {
    await call.withSession({}, async (session) => printOne(call, await session.facts.retract(call.arg(0), call.key)));
  },
};

const extract: Definition = {
  name: "extract",
  purpose: "Extract facts from a session with a language model.",
  about:
    "Reads the messages since the last extraction. Needs --session, and a model in the configuration: extraction.base_url and extraction.model.",
  options: [flag("-n, --limit <n>", "maximum number of messages to read (default: all new ones)", wholeNumber)],
  isScoped: true,
  examples: ["holdfast facts extract --user ada --session monday --config holdfast.yaml"],
  async run(call) {
    const { limit } = call.flags<FactFlags>();
    if (call.scope.session === undefined) {
      throw new HoldfastError("invalid_input", "no session was given", {
        hint: "facts are extracted per session: add --session NAME",
      });
    }
    await call.withSession({}, async (session) => {
      const options = { signal: call.io.signal, ...(limit !== undefined && { limit }) };
      const extraction = await session.facts.extract(options);
      if (call.printer.json) return call.printer.value(extraction);
      await printFacts(call, extraction.facts);
      call.printer.note(`${counted(extraction.messages, "message")} read, ${counted(extraction.facts.length, "fact")}`);
      for (const { why } of extraction.refused) call.printer.note(styled("yellow", `refused: ${why}`));
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
  const marks = [state, ...(pinned ? ["pinned"] : []), `since ${call.time(spans.at(-1)?.from ?? 0)}`, ...sure];
  await call.printer.head(marks, id, { mark: `${category}  `, indent: 3 });
  await call.printer.cutLine("   ", shortOf(content));
}

export const factsGroup: Group = {
  name: "facts",
  purpose: "Facts: what is known, since when, and from which source.",
  commands: [list, query, add, end, retract, extract],
};
