/** The commands that change blocks. */
import type { BlockEditInput, BlockSettings, EditOptions } from "../../blocks/block-input.js";
import type { EditedBlock } from "../../blocks/memory-blocks.js";
import { HoldfastError } from "../../errors.js";
import { BLOCK_POLICIES, type Block, type BlockPolicy } from "../../stores/blocks.js";
import type { Call } from "../call.js";
import { confirm, yesFlag } from "../confirm.js";
import { choiceFlag, type Definition, flag } from "../definition.js";
import { editText } from "../editor.js";
import { wholeArgument, wholeNumber } from "../flag-values.js";
import { styled } from "../output/style.js";
import { scopeText } from "../scope-flags.js";
import { textFrom } from "../stdin.js";
import { printReceipt } from "./receipt.js";

interface NoteFlags {
  readonly reason?: string;
  readonly actor?: string;
  readonly expectVersion?: number;
  readonly merge?: boolean;
}

interface SettingFlags {
  readonly description?: string;
  readonly maxTokens?: number;
  readonly counter?: string;
  readonly policy?: BlockPolicy;
  readonly readOnly?: boolean;
}

interface EditFlags extends NoteFlags {
  readonly content?: string;
  readonly append?: string;
  readonly replace?: string;
  readonly with?: string;
  readonly all?: boolean;
  readonly insert?: string;
  readonly line?: number;
  readonly patch?: string;
}

const noteFlags = () => [
  flag("--reason <text>", "why; kept in the history"),
  flag("--actor <name>", "who (default: the agent, or whose memory it is)"),
];
const versionFlag = () => flag("--expect-version <n>", "refuse if it has another version by now", wholeNumber);
const settingFlags = () => [
  flag("--description <text>", "what the block is for"),
  flag("--max-tokens <n>", "its budget (default: 4096)", wholeNumber),
  flag("--counter <name>", "what counts its tokens (default: chars4): that, or the name of a model"),
  choiceFlag("--policy <policy>", "what becomes of an edit over the budget (default: manual)", BLOCK_POLICIES),
];

const NAME = { name: "the block" };

function noteOf({ reason, actor, expectVersion, merge }: NoteFlags): EditOptions {
  return {
    ...(reason !== undefined && { reason }),
    ...(actor !== undefined && { actor }),
    ...(expectVersion !== undefined && { expectVersion }),
    ...(merge && { merge }),
  };
}

function settingsOf({ description, maxTokens, counter, policy, readOnly }: SettingFlags) {
  return {
    ...(description !== undefined && { description }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(counter !== undefined && { counter }),
    ...(policy !== undefined && { policy }),
    ...(readOnly !== undefined && { readOnly }),
  };
}

const create: Definition = {
  name: "create",
  args: "<name> [text...]",
  argHelp: { name: "what to call it", text: "its text; -: what is piped in" },
  purpose: "Make a new block.",
  options: [...settingFlags(), flag("--read-only", "nobody may edit it"), ...noteFlags()],
  isScoped: true,
  examples: [
    'holdfast blocks create persona "Ada is a baker." --user ada --description "who Ada is"',
    "holdfast blocks create rules - --team docs --read-only < rules.md",
  ],
  async run(call) {
    const flags = call.flags<SettingFlags & NoteFlags>();
    const [name = "", ...text] = call.args;
    const content = text.length === 0 ? "" : await textFrom(call.io, text.join(" "), false);
    await call.withSession({ create: true }, async (session) => {
      await print(call, await session.blocks.create({ name, content, ...settingsOf(flags), ...noteOf(flags) }));
    });
  },
};

const edit: Definition = {
  name: "edit",
  args: "<name>",
  argHelp: NAME,
  purpose: "Edit a block.",
  about:
    "The whole text, an addition, a replacement, an insertion or a patch. Without any of them your $EDITOR opens it. A text of - is what is piped in. Edits are never lost: what others write meanwhile is kept.",
  options: [
    flag("--content <text>", "the whole text"),
    flag("--append <text>", "at the end, on a line of its own"),
    flag("--replace <text>", "exactly this text, which must occur once, becomes that of --with"),
    flag("--with <text>", "what takes its place; empty to remove it"),
    flag("--all", "with --replace: all its occurrences"),
    flag("--insert <text>", "on lines of its own, after the line that --line says"),
    flag("--line <n>", "counted from 1; 0 is the top", wholeNumber),
    flag("--patch <text>", "a unified diff, as `holdfast blocks diff` prints it"),
    versionFlag(),
    flag("--merge", "with --expect-version: merge what does not overlap instead of refusing"),
    ...noteFlags(),
  ],
  isScoped: true,
  examples: [
    "holdfast blocks edit persona --user ada",
    'holdfast blocks edit persona --user ada --replace Porto --with Lisbon --reason "she moved"',
    "holdfast blocks edit persona --user ada --content - < persona.md",
  ],
  async run(call) {
    const change = await changeOf(call);
    await call.withSession({}, async (session) => {
      const made = change ?? (await edited(call, await session.blocks.get(call.arg(0))));
      if (!made) return call.printer.note("nothing was changed");
      await print(call, await session.blocks.edit(call.arg(0), made));
    });
  },
};

/** What the flags say; the engine refuses what does not go together. Undefined: nothing but who, why and when. */
async function changeOf(call: Call): Promise<BlockEditInput | undefined> {
  const flags = call.flags<EditFlags>();
  const { content, append, replace, insert, patch, all, line } = flags;
  const texts = { content, append, replace, with: flags.with, insert, patch };
  const given = Object.entries(texts).filter(([, text]) => text !== undefined);
  if (given.length === 0 && call.io.stdin.isTTY) return undefined;
  if (given.length === 0) {
    throw new HoldfastError("invalid_input", "nothing says how to edit it", {
      hint: "give --content, --append, --replace and --with, --insert and --line, or --patch; - reads what is piped in",
    });
  }
  const change: { [key: string]: unknown } = {};
  for (const [key, text] of given) change[key] = await textFrom(call.io, text, false);
  return {
    ...change,
    ...(all && { all }),
    ...(line !== undefined && { line }),
    ...noteOf(flags),
  } as BlockEditInput;
}

/** What came of it in an editor. Others may have written meanwhile: what does not overlap is merged. */
async function edited(call: Call, block: Block | undefined): Promise<BlockEditInput | undefined> {
  if (!block) return { content: "" }; // there is none of this name: the engine says so, and what to do
  const content = await editText(call, block.content, `${block.name}.md`);
  const note = noteOf(call.flags<EditFlags>());
  return content === block.content ? undefined : { content, expectVersion: block.version, merge: true, ...note };
}

const configure: Definition = {
  name: "configure",
  args: "<name>",
  argHelp: NAME,
  purpose: "Change a block's purpose, budget, or whether it may be edited.",
  options: [
    ...settingFlags(),
    flag("--read-only", "nobody may edit it"),
    flag("--no-read-only", "it may be edited again"),
    ...noteFlags(),
  ],
  isScoped: true,
  examples: ["holdfast blocks configure persona --user ada --max-tokens 800 --policy archive"],
  async run(call) {
    const flags = call.flags<SettingFlags & NoteFlags>();
    const settings: BlockSettings = { ...settingsOf(flags), ...noteOf(flags) };
    await call.withSession({}, async (session) => print(call, await session.blocks.configure(call.arg(0), settings)));
  },
};

const rename: Definition = {
  name: "rename",
  args: "<name> <new-name>",
  argHelp: { ...NAME, "new-name": "what it is to be called" },
  purpose: "Give a block another name. Its history stays.",
  options: [versionFlag(), ...noteFlags()],
  isScoped: true,
  examples: ["holdfast blocks rename persona human --user ada"],
  async run(call) {
    const note = noteOf(call.flags<NoteFlags>());
    await call.withSession({}, async (session) => {
      await print(call, await session.blocks.rename(call.arg(0), call.arg(1), note));
    });
  },
};

const restore: Definition = {
  name: "restore",
  args: "<name> <version>",
  argHelp: { ...NAME, version: "the version whose text it gets; that is a new version" },
  purpose: "Give a block the text of an earlier version.",
  options: [versionFlag(), ...noteFlags()],
  isScoped: true,
  examples: ["holdfast blocks restore persona 3 --user ada"],
  async run(call) {
    const note = noteOf(call.flags<NoteFlags>());
    await call.withSession({}, async (session) => {
      await print(call, await session.blocks.restore(call.arg(0), wholeArgument(call.arg(1), "version"), note));
    });
  },
};

const remove: Definition = {
  name: "delete",
  args: "<name>",
  argHelp: NAME,
  purpose: "Forget a block with its history.",
  about: "What overflowed from it goes too. It cannot be undone.",
  options: [yesFlag()],
  isScoped: true,
  examples: ["holdfast blocks delete persona --user ada"],
  async run(call) {
    await confirm(call, `forget the block ${call.arg(0)} of ${scopeText(call.scope)} and all its versions`);
    await call.withSession({}, async (session) => printReceipt(call, await session.blocks.delete(call.arg(0))));
  },
};

async function print({ printer }: Call, block: EditedBlock): Promise<void> {
  if (printer.json) return printer.value(block);
  await printer.line(`${block.name} has version ${block.version}`);
  if (block.archived) {
    printer.note(styled("yellow", `over its budget: the rest was stored as item ${block.archived.id}`));
  }
}

export const blockEdits: readonly Definition[] = [create, edit, configure, rename, restore, remove];
