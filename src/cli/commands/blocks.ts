/** holdfast blocks: named texts that agents read and edit, with all their versions. */
import type { Block } from "../../stores/blocks.js";
import type { Call } from "../call.js";
import { type Definition, flag, type Group } from "../definition.js";
import { wholeArgument, wholeNumber } from "../flag-values.js";
import { blockEdits } from "./block-edits.js";
import { shortOf } from "./item-lines.js";

const list: Definition = {
  name: "list",
  purpose: "List the blocks of a memory, by name.",
  isScoped: true,
  examples: ["holdfast blocks list --user ada", "holdfast blocks list --team docs --json"],
  async run(call) {
    const { printer, scope } = call;
    await call.withSession({}, async (session) => {
      const blocks = await session.blocks.list();
      if (printer.json) return printer.value({ scope, blocks });
      if (blocks.length === 0) return printer.note("no blocks");
      const names = ["NAME", "VERSION", "CHANGED", "BUDGET", "ABOUT"];
      await printer.table(
        names.map((name) => ({ name })),
        blocks.map((block) => rowOf(call, block)),
      );
    });
  },
};

function rowOf(call: Call, { name, version, updatedAt, maxTokens, policy, readOnly, description, content }: Block) {
  const budget = `${maxTokens} (${readOnly ? "read-only" : policy})`;
  const about = description ?? shortOf(content);
  return [name, String(version), call.time(updatedAt), budget, about];
}

const show: Definition = {
  name: "show",
  args: "<name> [version]",
  argHelp: { name: "the block", version: "which version (default: the newest)" },
  purpose: "Print the text of a block; byte for byte if piped.",
  isScoped: true,
  examples: ["holdfast blocks show persona --user ada", "holdfast blocks show persona 3 --user ada > persona.md"],
  async run(call) {
    const { printer } = call;
    const [name = "", given] = call.args;
    const version = given === undefined ? undefined : wholeArgument(given, "version");
    await call.withSession({}, async (session) => {
      const block = await session.blocks.get(name);
      // Reading a version of a missing block throws the right error.
      const content = version === undefined && block ? block.content : await session.blocks.version(name, version ?? 1);
      if (printer.json) return printer.value({ ...block, content, ...(version !== undefined && { version }) });
      return printer.body(content);
    });
  },
};

const history: Definition = {
  name: "history",
  args: "<name>",
  argHelp: { name: "the block" },
  purpose: "List the versions of a block: when, by whom, and why.",
  options: [flag("-n, --limit <n>", "number of versions, newest first; 0: all (default: 20)", wholeNumber)],
  isScoped: true,
  examples: ["holdfast blocks history persona --user ada", "holdfast blocks history persona --user ada -n 0 --json"],
  async run(call) {
    const { limit } = call.flags<{ limit?: number }>();
    const { printer } = call;
    await call.withSession({}, async (session) => {
      const options = { creation: true, ...(limit !== undefined && { limit }) };
      const edits = await session.blocks.history(call.arg(0), options);
      if (printer.json) return printer.value(edits);
      const names = ["VERSION", "WHEN", "WHO", "LENGTH", "WHY"];
      const rows = edits.map((edit) => [
        String(edit.version),
        call.time(edit.at),
        edit.actor ?? "",
        `${edit.new.length} (${signed(edit.new.length - edit.old.length)})`,
        edit.reason,
      ]);
      await printer.table(
        names.map((name) => ({ name })),
        rows,
      );
    });
  },
};

const signed = (number: number): string => (number < 0 ? String(number) : `+${number}`);

const diff: Definition = {
  name: "diff",
  args: "<name> [from] [to]",
  argHelp: {
    name: "the block",
    from: "a version (default: the one before the newest)",
    to: "a version (default: the newest)",
  },
  purpose: "Print what changed between two versions of a block.",
  isScoped: true,
  examples: ["holdfast blocks diff persona --user ada", "holdfast blocks diff persona 1 4 --user ada"],
  async run(call) {
    const { printer } = call;
    const [name = "", from, to] = call.args;
    await call.withSession({}, async (session) => {
      const newest = (await session.blocks.get(name))?.version ?? 1;
      const last = to === undefined ? newest : wholeArgument(to, "version");
      const first = from === undefined ? Math.max(1, last - 1) : wholeArgument(from, "version");
      const text = await session.blocks.diff(name, first, last);
      if (printer.json) return printer.value({ name, from: first, to: last, diff: text });
      if (text === "") return printer.note(`versions ${first} and ${last} have the same text`);
      return printer.body(text);
    });
  },
};

export const blocksGroup: Group = {
  name: "blocks",
  purpose: "Named texts that agents read and edit, with all their versions.",
  commands: [list, show, ...blockEdits, history, diff],
};
