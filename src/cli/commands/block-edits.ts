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
  flag("--reason <text>", "the reason, kept in the history"),
  flag("--actor <name>", "who makes the edit (default: the agent, or the owner of the memory)"),
];
const versionFlag = () => flag("--expect-version <n>", "fail if the block has another version", wholeNumber);
const settingFlags = () => [
  flag("--description <text>", "what the block is for"),
  flag("--max-tokens <n>", "its budget (default: 4096)", wholeNumber),
  flag("--counter <name>", "how to count its tokens: chars4, or the name of a model (default: chars4)"),
  choiceFlag("--policy <policy>", "what to do with an edit over the budget (default: manual)", BLOCK_POLICIES),
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
  argHelp: { name: "the block's name", text: "its text; -: read stdin" },
  purpose: "Create a block.",
  options: [...settingFlags(), flag("--read-only", "forbid edits"), ...noteFlags()],
  isScoped: true,
  isKeyed: true,
  examples: [
    'holdfast blocks create persona "Ada is a baker." --user ada --description "who Ada is"',
    "holdfast blocks create rules - --team docs --read-only < rules.md",
  ],
  async run(call) {
    const flags = call.flags<SettingFlags & NoteFlags>();
    const [name = "", ...text] = call.args;
    const content = text.length === 0 ? "" : await textFrom(call.io, text.join(" "), false);
    await call.withSession({ create: true }, async (session) => {
      const block = { name, content, ...settingsOf(flags), ...noteOf(flags) };
      await print(call, await session.blocks.create(block, call.key));
    });
  },
};

const edit: Definition = {
  name: "edit",
  args: "<name>",
  argHelp: NAME,
  purpose: "Edit a block.",
  about:
    "Set the whole text, append, replace, insert or patch. Without any of these, $EDITOR opens. A text of - reads stdin. Concurrent edits are never lost.",
  options: [
    flag("--content <text>", "the whole text"),
    flag("--append <text>", "a line to add at the end"),
    flag("--replace <text>", "the exact text to replace; it must occur once"),
    flag("--with <text>", "the replacement; empty to remove the text"),
    flag("--all", "with --replace: replace all occurrences"),
    flag("--insert <text>", "lines to insert after --line"),
    flag("--line <n>", "counted from 1; 0 is the top", wholeNumber),
    flag("--patch <text>", "a unified diff, as `holdfast blocks diff` prints it"),
    versionFlag(),
    flag("--merge", "with --expect-version: merge edits that do not overlap instead of failing"),
    ...noteFlags(),
  ],
  isScoped: true,
  isKeyed: true,
  examples: [
    "holdfast blocks edit persona --user ada",
    'holdfast blocks edit persona --user ada --replace Porto --with Lisbon --reason "she moved"',
    "holdfast blocks edit persona --user ada --content - < persona.md",
  ],
  async run(call) {
    const change = await changeOf(call);
    await call.withSession({}, async (session) => {
      const made = change ?? (await edited(call, await session.blocks.get(call.arg(0))));
      if (!made) return call.printer.note("no change");
      await print(call, await session.blocks.edit(call.arg(0), made, call.key));
    });
  },
};

/** The edit given by the flags; the engine refuses invalid combinations. Undefined if no flag describes a change. */
async function changeOf(call: Call): Promise<BlockEditInput | undefined> {
  const flags = call.flags<EditFlags>();
  const { content, append, replace, insert, patch, all, line } = flags;
  const texts = { content, append, replace, with: flags.with, insert, patch };
  const given = Object.entries(texts).filter(([, text]) => text !== undefined);
  if (given.length === 0 && call.io.stdin.isTTY) return undefined;
  if (given.length === 0) {
    throw new HoldfastError("invalid_input", "no edit was given", {
      hint: "pass --content, --append, --replace with --with, --insert with --line, or --patch; - reads stdin",
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

/** The edit made in an editor. Concurrent edits that do not overlap are merged. */
async function edited(call: Call, block: Block | undefined): Promise<BlockEditInput | undefined> {
  if (!block) return { content: "" }; // the engine reports that there is no such block
  const content = await editText(call, block.content, `${block.name}.md`, "use --content, --append or --replace");
  const note = noteOf(call.flags<EditFlags>());
  return content === block.content ? undefined : { content, expectVersion: block.version, merge: true, ...note };
}

const configure: Definition = {
  name: "configure",
  args: "<name>",
  argHelp: NAME,
  purpose: "Change a block's description, budget or policy, or whether it may be edited.",
  options: [
    ...settingFlags(),
    flag("--read-only", "forbid edits"),
    flag("--no-read-only", "allow edits again"),
    ...noteFlags(),
  ],
  isScoped: true,
  isKeyed: true,
  examples: ["holdfast blocks configure persona --user ada --max-tokens 800 --policy archive"],
  async run(call) {
    const flags = call.flags<SettingFlags & NoteFlags>();
    const settings: BlockSettings = { ...settingsOf(flags), ...noteOf(flags) };
    await call.withSession({}, async (session) =>
      print(call, await session.blocks.configure(call.arg(0), settings, call.key)),
    );
  },
};

const rename: Definition = {
  name: "rename",
  args: "<name> <new-name>",
  argHelp: { ...NAME, "new-name": "the new name" },
  purpose: "Rename a block. Its history is kept.",
  options: [versionFlag(), ...noteFlags()],
  isScoped: true,
  isKeyed: true,
  examples: ["holdfast blocks rename persona human --user ada"],
  async run(call) {
    const note = noteOf(call.flags<NoteFlags>());
    await call.withSession({}, async (session) => {
      await print(call, await session.blocks.rename(call.arg(0), call.arg(1), { ...note, ...call.key }));
    });
  },
};

const restore: Definition = {
  name: "restore",
  args: "<name> <version>",
  argHelp: { ...NAME, version: "the version to restore, as a new version" },
  purpose: "Restore the text of an earlier version.",
  options: [versionFlag(), ...noteFlags()],
  isScoped: true,
  isKeyed: true,
  examples: ["holdfast blocks restore persona 3 --user ada"],
  async run(call) {
    const note = noteOf(call.flags<NoteFlags>());
    await call.withSession({}, async (session) => {
      const version = wholeArgument(call.arg(1), "version");
      await print(call, await session.blocks.restore(call.arg(0), version, { ...note, ...call.key }));
    });
  },
};

const remove: Definition = {
  name: "delete",
  args: "<name>",
  argHelp: NAME,
  purpose: "Forget a block and its history.",
  about: "Its archived overflow is forgotten, too. This cannot be undone.",
  options: [yesFlag()],
  isScoped: true,
  examples: ["holdfast blocks delete persona --user ada"],
  async run(call) {
    if (!(await confirm(call, `forget the block ${call.arg(0)} of ${scopeText(call.scope)} and all its versions`)))
      return;
    await call.withSession({}, async (session) => printReceipt(call, await session.blocks.delete(call.arg(0))));
  },
};

async function print({ printer }: Call, block: EditedBlock): Promise<void> {
  if (printer.json) return printer.value(block);
  await printer.line(`${block.name} is now at version ${block.version}`);
  if (block.archived) {
    printer.note(styled("yellow", `over its budget: the rest was stored as item ${block.archived.id}`));
  }
}

export const blockEdits: readonly Definition[] = [create, edit, configure, rename, restore, remove];
