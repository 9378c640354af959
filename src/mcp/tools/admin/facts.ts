/** memory_fact: facts, and when they held. */
import { z } from "zod";
import { inline, quoted } from "../../../context/fence.js";
import { HoldfastError } from "../../../errors.js";
import type { Facts } from "../../../facts/session-facts.js";
import { FactSchema, NewFactSchema } from "../../../schemas/fact.js";
import { Name } from "../../../schemas/scope.js";
import type { Fact } from "../../../stores/facts.js";
import { AnswerBuilder, excerpt } from "../../answer-builder.js";
import { named } from "../../rendering.js";
import { tool } from "../../tool.js";

const COMMANDS = ["list", "record", "end", "retract"] as const;
const PAGE = 100;
const EXCERPT_TOKENS = 100;

const Shown = FactSchema.pick({ id: true, category: true, content: true, state: true, pinned: true });

const Input = z.strictObject({
  command: z.enum(COMMANDS),
  id: Name.exactOptional().meta({ description: "end, retract" }),
  category: NewFactSchema.shape.category
    .exactOptional()
    .meta({ description: "record: such as preference; list: only this category" }),
  content: NewFactSchema.shape.content.exactOptional(),
  pinned: z.boolean().exactOptional(),
  supersedes: Name.exactOptional(),
  cursor: z.string().exactOptional().meta({ description: "list: the `next` of the previous page" }),
});
type Given = z.output<typeof Input>;

export const factTool = tool({
  name: "memory_fact",
  title: "Facts",
  description:
    "Keep single facts that hold until they end: list them, record one (category and content; `supersedes` the id of the one it replaces), end one that no longer holds, retract one that was never right. Current facts are part of memory_context; pinned ones always.",
  access: "read",
  isDestructive: true,
  input: Input,
  output: z.object({ facts: z.array(Shown), next: z.string().exactOptional() }),
  async run({ session: { facts }, maxTokens, require }, given) {
    if (given.command === "list") return listed(facts, given, maxTokens);
    require("write");
    const [verb, fact] = await edited(facts, given);
    const answer = answerOf([fact], maxTokens);
    return { data: { facts: answer.shown }, text: answer.text(verb) };
  },
});

async function listed(facts: Facts, { category, cursor }: Given, maxTokens: number) {
  const ask = (limit: number) =>
    facts.list({ limit, ...(category !== undefined && { category }), ...(cursor !== undefined && { cursor }) });
  let page = await ask(PAGE);
  let answer = answerOf(page.items, maxTokens);
  // If a page does not fit, a shorter one is read instead, so that its cursor is right.
  if (answer.shown.length < page.items.length) {
    page = await ask(answer.shown.length);
    answer = answerOf(page.items, maxTokens);
  }
  const { next } = page;
  const notes = [
    ...(answer.isEmpty ? ["No facts."] : []),
    ...(next === undefined ? [] : [`More: cursor ${JSON.stringify(next)}`]),
  ];
  return { data: { facts: answer.shown, ...(next !== undefined && { next }) }, text: answer.text(...notes) };
}

async function edited(facts: Facts, given: Given): Promise<readonly [verb: string, fact: Fact]> {
  const { command, id, category, content, pinned, supersedes } = given;
  if (command === "end") return ["Ended.", await facts.end(needed(id, "id"))];
  if (command === "retract") return ["Retracted.", await facts.retract(needed(id, "id"))];
  const wanted = { category: needed(category, "category"), content: needed(content, "content") };
  const more = { ...(pinned !== undefined && { pinned }), ...(supersedes !== undefined && { supersedes }) };
  const { outcome, fact } = await facts.upsert({ ...wanted, ...more });
  if (outcome !== "retracted") return [`Recorded: ${outcome}.`, fact];
  return ["Not recorded: this fact was retracted earlier and stays retracted.", fact];
}

function answerOf(facts: readonly Fact[], maxTokens: number): AnswerBuilder<z.output<typeof Shown>> {
  const answer = new AnswerBuilder<z.output<typeof Shown>>(maxTokens);
  for (const fact of facts) {
    const { text, next } = excerpt(fact.content, EXCERPT_TOKENS);
    const cut = { ...fact, content: text };
    if (!answer.add(pieceOf(cut) + (next === undefined ? "" : "\n[more: memory_get]"), shownOf(cut))) break;
  }
  return answer;
}

const pieceOf = ({ id, category, content, state, pinned }: Fact): string =>
  named(id, inline(category), ...(state === "holds" ? [] : [state]), ...(pinned ? ["pinned"] : [])) + quoted(content);

const shownOf = ({ id, category, content, state, pinned }: Fact) => ({ id, category, content, state, pinned });

function needed(value: string | undefined, field: string): string {
  if (value !== undefined) return value;
  throw new HoldfastError("invalid_input", `this command needs \`${field}\``, {
    hint: `call it again with \`${field}\``,
  });
}
