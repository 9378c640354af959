/**
 * memory_block: named texts that an agent edits. One tool with commands, like the text editors that models know. Every edit
 * is a version; an edit of text that has changed meanwhile is applied to the new text or refused.
 */
import { z } from "zod";
import { heading, inline, quoted } from "../../context/fence.js";
import { HoldfastError } from "../../errors.js";
import { BlockSchema, NewBlockSchema } from "../../schemas/block.js";
import { Name } from "../../schemas/scope.js";
import type { Session } from "../../session.js";
import type { Block, BlockEdit } from "../../stores/blocks.js";
import { estimateTokens } from "../../tokens/estimate.js";
import { AnswerBuilder, costOf, excerpt } from "../answer-builder.js";
import { day, listed, named } from "../rendering.js";
import { type Answer, tool } from "../tool.js";

const COMMANDS = ["view", "create", "str_replace", "insert", "rename", "history", "restore"] as const;

const Input = z.strictObject({
  command: z.enum(COMMANDS),
  name: Name.exactOptional().meta({ description: "Without it, view lists all blocks" }),
  content: NewBlockSchema.shape.content.unwrap().exactOptional().meta({ description: "create: the text" }),
  old_str: z.string().min(1).exactOptional().meta({ description: "str_replace: occurs exactly once" }),
  new_str: z.string().exactOptional().meta({ description: "str_replace, insert: the new text" }),
  line: z.int().min(0).exactOptional().meta({ description: "insert: after this line; 0: at the top" }),
  to: Name.exactOptional().meta({ description: "rename: the new name" }),
  version: z.int().min(1).exactOptional().meta({ description: "restore, view: an earlier version" }),
  from: z.int().min(0).exactOptional().meta({ description: "view: offset at which to continue a long text" }),
  reason: z.string().exactOptional().meta({ description: "The reason, kept in the history" }),
});

const ShownBlock = BlockSchema.pick({ name: true, version: true, description: true }).extend({
  content: z.string().exactOptional(),
  tokens: z.int(),
  next: z.int().exactOptional().meta({ description: "The text continues at this offset" }),
});
const ShownEdit = z.object({ version: z.int(), reason: z.string(), actor: z.string().exactOptional(), at: z.number() });

const Output = z.object({ blocks: z.array(ShownBlock), history: z.array(ShownEdit).exactOptional() });

type Data = z.output<typeof Output>;
type Given = z.output<typeof Input>;
interface Workbench {
  readonly blocks: Session["blocks"];
  readonly maxTokens: number;
}

export const blockTool = tool({
  name: "memory_block",
  title: "Memory blocks",
  description:
    "Keep notes that belong in every conversation (who the user is, how to work, the state of a project) in named blocks that you edit in place. view before you edit. create a block for a new subject; change a fact with str_replace (old_str must match exactly once), add one with insert. history and restore bring back an earlier text. Keep blocks short and current; single events go to memory_save. If an edit is refused because the text has changed, view it again first.",
  access: "read",
  isDestructive: true,
  aliases: { old: "old_str", new: "new_str" },
  input: Input,
  output: Output,
  async run({ session, maxTokens, require }, given) {
    if (given.command !== "view" && given.command !== "history") require("write");
    const { blocks } = session;
    try {
      return await commands[given.command]({ blocks, maxTokens }, given);
    } catch (error) {
      throw isNoBlock(error) ? await missing(blocks) : isRepeated(error) ? ambiguous(error) : error;
    }
  },
});

const commands: {
  readonly [name in (typeof COMMANDS)[number]]: (bench: Workbench, given: Given) => Promise<Answer<Data>>;
} = {
  view: async (bench, given) => (given.name === undefined ? listedBlocks(bench) : viewed(bench, given)),
  async create({ blocks }, given) {
    const block = await blocks.create({ name: need(given, "name"), content: need(given, "content"), ...noteOf(given) });
    return edited(block, "Created");
  },
  async str_replace({ blocks }, given) {
    const change = { replace: need(given, "old_str"), with: need(given, "new_str") };
    return edited(await blocks.edit(need(given, "name"), { ...change, ...noteOf(given) }), "Edited");
  },
  async insert({ blocks }, given) {
    const change = { insert: need(given, "new_str"), line: need(given, "line") };
    return edited(await blocks.edit(need(given, "name"), { ...change, ...noteOf(given) }), "Edited");
  },
  async rename({ blocks }, given) {
    return edited(await blocks.rename(need(given, "name"), need(given, "to"), noteOf(given)), "Renamed");
  },
  async restore({ blocks }, given) {
    return edited(await blocks.restore(need(given, "name"), need(given, "version"), noteOf(given)), "Restored");
  },
  history: remembered,
};

async function listedBlocks({ blocks, maxTokens }: Workbench): Promise<Answer<Data>> {
  const all = await blocks.list();
  const answer = new AnswerBuilder<Data["blocks"][number]>(maxTokens);
  for (const block of all) {
    const shown = shownOf(block);
    const head = named(block.name, `v${block.version}`, `${shown.tokens} tokens`);
    if (!answer.add(head + quoted(shown.description ?? ""), shown)) break;
  }
  const omitted = all.length - answer.shown.length;
  const notes = [
    ...(all.length === 0 ? ["There are no blocks yet."] : []),
    ...(omitted > 0 ? [`${omitted} more blocks do not fit; view them by name.`] : []),
  ];
  return { data: { blocks: answer.shown }, text: answer.text(...notes) };
}

async function viewed({ blocks, maxTokens }: Workbench, given: Given): Promise<Answer<Data>> {
  const name = need(given, "name");
  const { version, from = 0 } = given;
  const block = await blocks.get(name);
  if (!block) throw await missing(blocks);
  const content = version === undefined ? block.content : await blocks.version(name, version);
  const whole = shownOf({ ...block, content, version: version ?? block.version });
  const head = heading(inline(name), `v${whole.version}`);
  const answer = new AnswerBuilder<Data["blocks"][number]>(maxTokens);
  const around = costOf(head, { ...whole, content: "", next: content.length });
  const { text, next } = excerpt(content, answer.left - around, from);
  answer.add(head + quoted(text), { ...whole, content: text, ...(next !== undefined && { next }) });
  return {
    data: { blocks: answer.shown },
    text: answer.text(...(next === undefined ? [] : [`[continues: from ${next}]`])),
  };
}

async function remembered({ blocks, maxTokens }: Workbench, given: Given): Promise<Answer<Data>> {
  const name = need(given, "name");
  const block = await blocks.get(name);
  if (!block) throw await missing(blocks);
  const shown = shownOf(block);
  const answer = new AnswerBuilder<z.output<typeof ShownEdit>>(maxTokens - estimateTokens(JSON.stringify(shown)));
  const edits = (await blocks.history(name)).map(shownEdit);
  for (const edit of edits) if (!answer.add(editPiece(edit), edit)) break;
  const omitted = edits.length - answer.shown.length;
  const notes = [
    ...(edits.length === 0 ? [`Not edited since it was created: version ${block.version}.`] : []),
    ...(omitted > 0 ? [`${omitted} earlier edits do not fit.`] : []),
  ];
  return { data: { blocks: [shown], history: answer.shown }, text: answer.text(...notes) };
}

const editPiece = ({ version, actor, at, reason }: z.output<typeof ShownEdit>): string =>
  heading(`v${version}`, day(at), ...(actor === undefined ? [] : [inline(actor)])) + quoted(reason);

const shownEdit = ({ version, reason, actor, at }: BlockEdit) => ({
  version,
  reason: excerpt(reason, NOTE_TOKENS).text,
  ...(actor !== undefined && { actor }),
  at,
});

function edited(block: Block & { readonly archived?: { readonly id: string } }, verb: string): Answer<Data> {
  const { name, version, archived } = block;
  const shown = shownOf(block);
  const over = archived === undefined ? "" : ` What did not fit was moved to the memory ${archived.id}.`;
  const text = `${verb} ${inline(name)}: version ${version}, ${shown.tokens} tokens.${over}`;
  return { data: { blocks: [shown] }, text };
}

function shownOf({ name, version, content, description }: Block) {
  const about = description === undefined ? {} : { description: excerpt(description, NOTE_TOKENS).text };
  return { name, version, ...about, tokens: estimateTokens(content) };
}

function noteOf({ reason }: Given): { readonly reason?: string } {
  return reason === undefined ? {} : { reason };
}

/** A field that the command requires. */
function need<K extends keyof Given>(given: Given, field: K): NonNullable<Given[K]> {
  const value = given[field];
  if (value !== undefined) return value as NonNullable<Given[K]>;
  throw new HoldfastError("invalid_input", `${given.command} needs \`${field}\``, {
    hint: `call it again with \`${field}\``,
  });
}

/** The block does not exist. If only a version is missing, the error names its number instead. */
const isNoBlock = (error: unknown): boolean =>
  error instanceof HoldfastError && error.code === "not_found" && "name" in error.details;

/** The text to replace occurs several times. */
const isRepeated = (error: unknown): error is HoldfastError =>
  error instanceof HoldfastError && error.code === "conflict" && typeof error.details["count"] === "number";

/** The engine suggests replacing all occurrences, which this tool does not offer. */
const ambiguous = (cause: HoldfastError): HoldfastError =>
  new HoldfastError(cause.code, cause.message, {
    hint: "include more of the surrounding text, so that it occurs once",
    cause,
  });

async function missing(blocks: Session["blocks"]): Promise<HoldfastError> {
  const names = new AnswerBuilder<string>(NAMES_TOKENS);
  for (const { name } of await blocks.list()) if (!names.add(listed("", [name]), name)) break;
  return new HoldfastError("not_found", "no block has this name", {
    hint: names.isEmpty ? "there are no blocks yet; create it" : listed("the blocks are:", names.shown),
  });
}

/** For names in an error. */
const NAMES_TOKENS = 300;
/** For a description or a reason. */
const NOTE_TOKENS = 100;
