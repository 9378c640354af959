/** holdfast get and edit: single items, by id. */
import { HoldfastError } from "../../errors.js";
import type { Session } from "../../session.js";
import type { Item } from "../../types.js";
import type { Call } from "../call.js";
import { type Definition, flag } from "../definition.js";
import { editText } from "../editor.js";
import { EXIT } from "../exit-code.js";
import { wholeNumber } from "../flag-values.js";
import { styled } from "../output/style.js";
import { textFrom } from "../stdin.js";
import { speakerOf } from "./item-lines.js";

export const getCommand: Definition = {
  name: "get",
  args: "<ids...>",
  argHelp: { ids: "ids of items, as printed by query and tail" },
  purpose: "Print items by id, with their full text.",
  about: "Exit code 3 if one of them does not exist.",
  isScoped: true,
  examples: [
    "holdfast get 0199c5d2-7a1e-7000-8000-3f2a1b4c5d6e --user ada",
    'holdfast get m1 m2 --json | jq -r ".items[].content"',
  ],
  async run(call) {
    const { args, printer, scope } = call;
    await call.withSession({}, async (session) => {
      const items = await session.get(args);
      const found = new Set(items.map(({ id }) => id));
      const missing = args.filter((id) => !found.has(id));
      if (missing.length > 0) call.exitCode = EXIT.notFound;
      if (printer.json) return printer.value({ scope, items, missing });
      if (printer.isTerminal) for (const item of items) await printItem(call, item);
      else if (items.length > 0) await printRows(call, items);
      for (const id of missing) printer.note(styled("yellow", `not found: ${id}`));
    });
  },
};

async function printItem(call: Call, item: Item): Promise<void> {
  const { printer } = call;
  const { id, occurredAt, session = "", version, content } = item;
  await printer.head([call.time(occurredAt), speakerOf(item), session, `version ${version}`], id);
  const metadata = metadataText(item);
  if (metadata !== "") await printer.line(styled("dim", metadata));
  await printer.text(content);
}

async function printRows(call: Call, items: readonly Item[]): Promise<void> {
  const names = ["ID", "WHEN", "WHO", "SESSION", "VERSION", "METADATA", "CONTENT"];
  const rows = items.map((item) => [
    item.id,
    call.time(item.occurredAt),
    speakerOf(item),
    item.session ?? "",
    String(item.version),
    metadataText(item),
    item.content,
  ]);
  await call.printer.table(
    names.map((name) => ({ name })),
    rows,
  );
}

const metadataText = ({ metadata }: Item): string =>
  Object.keys(metadata).length === 0 ? "" : JSON.stringify(metadata);

export const editCommand: Definition = {
  name: "edit",
  args: "<id> [text...]",
  argHelp: { id: "the item, as printed by query and tail", text: "the new text; -: read stdin; nothing: open $EDITOR" },
  purpose: "Replace the text of an item.",
  about: "No later answer contains the old text. The item is embedded again.",
  options: [flag("--expect-version <n>", "fail if the item has another version", wholeNumber)],
  isScoped: true,
  isKeyed: true,
  examples: [
    "holdfast edit 0199c5d2-7a1e-7000-8000-3f2a1b4c5d6e --user ada",
    'holdfast edit m1 "I moved to Lisbon in June." --user ada',
  ],
  async run(call) {
    const [id = "", ...words] = call.args;
    const { expectVersion } = call.flags<{ expectVersion?: number }>();
    const isTyped = words.length > 0 || !call.io.stdin.isTTY;
    const typed = isTyped ? await textFrom(call.io, words.length > 0 ? words.join(" ") : undefined, true) : undefined;
    await call.withSession({}, async (session) => {
      const made = typed === undefined ? await editedItem(call, session, id) : { content: typed };
      if (!made) return call.printer.note("no change");
      const { content, version = expectVersion } = made;
      if (content.trim() === "") throw noText();
      const options = { ...call.key, ...(version !== undefined && { expectVersion: version }) };
      await print(call, id, await session.update(id, { content }, options));
    });
  },
};

interface Edited {
  readonly content: string;
  /** The version that was edited. */
  readonly version?: number;
}

/** The text made in an editor. Undefined if it was not changed. */
async function editedItem(call: Call, session: Session, id: string): Promise<Edited | undefined> {
  const [item] = await session.get([id]);
  if (!item) return { content: "-" }; // the engine reports that there is no such item
  // Editors end the last line, which the text may not do.
  const text = await editText(call, item.content, `${id}.md`, "pass the new text after the id");
  const content = item.content.endsWith("\n") ? text : text.replace(/\r?\n$/, "");
  return content === item.content ? undefined : { content, version: item.version };
}

async function print({ printer }: Call, id: string, version: number): Promise<void> {
  if (printer.json) return printer.value({ id, version });
  await printer.line(`${id} is now at version ${version}`);
}

const noText = (): HoldfastError =>
  new HoldfastError("invalid_input", "the new text is empty", { hint: "to remove the item: holdfast forget ID" });
