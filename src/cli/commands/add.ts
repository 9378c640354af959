/** holdfast add: stores messages. */
import { HoldfastError } from "../../errors.js";
import type { WriteOptions } from "../../input/call.js";
import { checkJsonBounds } from "../../input/json-text.js";
import type { Session } from "../../session.js";
import { withoutMark } from "../../text.js";
import { type Added, type Metadata, type NewMessage, ROLES, type Role } from "../../types.js";
import type { Call } from "../call.js";
import { choiceFlag, type Definition, flag } from "../definition.js";
import { futureMoment, jsonObject, moment, TIME_FORM } from "../flag-values.js";
import { counted } from "../output/counted.js";
import { styled } from "../output/style.js";
import { readLines, textFrom } from "../stdin.js";

interface AddFlags {
  readonly role: Role;
  readonly name?: string;
  readonly id?: string;
  readonly at?: string | number;
  readonly expires?: string | number;
  readonly metadata?: Metadata;
  readonly knowledge?: boolean;
  readonly jsonl?: boolean;
}

/** Lines per commit, which is all or nothing. */
const BATCH = 256;

export const addCommand: Definition = {
  name: "add",
  args: "[text...]",
  argHelp: { text: "the message; - or nothing: read stdin" },
  purpose: "Store a message. It is durable and searchable when the command returns.",
  about:
    "Prints the ids. The message can be found by words at once. It is embedded later: by a server, by the next queries, or by holdfast flush.",
  options: [
    choiceFlag("--role <role>", "who speaks", ROLES).default("user"),
    flag("--name <name>", "the speaker's name, if the role is not enough"),
    flag("--at <time>", `when it was said (default: now): ${TIME_FORM} ago`, moment),
    flag("--expires <time>", "when to forget it: a date, a time, or a span such as 30d", futureMoment),
    flag("--metadata <json>", "a JSON object to store with it", jsonObject),
    flag("--id <id>", "your own id; adding the same id and text again adds nothing"),
    flag("--knowledge", "store it as knowledge, not as a message"),
    flag("--jsonl", 'read messages, one JSON object per line: {"role":"user","content":"…"}'),
  ],
  isScoped: true,
  isKeyed: true,
  examples: [
    'holdfast add "I moved to Lisbon in May."',
    'git log -1 --format=%B | holdfast add --user ada --session "code review" --role tool',
    "holdfast add --jsonl --user ada --session monday < messages.jsonl",
  ],
  run: (call) => (call.flags<AddFlags>().jsonl ? addLines(call) : addText(call)),
};

async function addText(call: Call): Promise<void> {
  const { role, name, id, at, expires, metadata, knowledge } = call.flags<AddFlags>();
  const content = await textFrom(call.io, call.words, true);
  if (content.trim() === "") throw nothingToAdd();
  const message = {
    content,
    ...(id !== undefined && { id }),
    ...(name !== undefined && { name }),
    ...(at !== undefined && { occurredAt: at }),
    ...(expires !== undefined && { expiresAt: expires }),
    ...(metadata !== undefined && { metadata }),
  };
  await call.withSession({ create: true }, async (session) => {
    const added = knowledge
      ? await session.addItems([{ kind: "knowledge", ...message }], call.key)
      : await session.add([{ role, ...message }], call.key);
    await print(call, [added]);
  });
}

/** Writes lines as they come, 256 at a time, so that input of any size can be piped in. */
async function addLines(call: Call): Promise<void> {
  const { idempotencyKey } = call.key;
  if (call.args.length > 0) {
    throw new HoldfastError("invalid_input", "--jsonl reads messages from stdin, but a text was given too", {
      hint: "remove one of the two",
    });
  }
  if (call.io.stdin.isTTY) throw nothingToAdd();
  await call.withSession({ create: true }, async (session) => {
    const progress = call.progress("adding");
    const added: Added[] = [];
    let count = 0;
    try {
      for await (const { messages, lines } of batches(call)) {
        const options = idempotencyKey === undefined ? {} : { idempotencyKey: `${idempotencyKey}/${added.length}` };
        added.push(await addBatch(session, messages, lines, options));
        count += messages.length;
        progress.update(count);
      }
    } catch (error) {
      throw count > 0 ? withCount(error, count) : error;
    } finally {
      progress.end();
    }
    if (count === 0) throw nothingToAdd();
    await print(call, added);
  });
}

interface Batch {
  readonly messages: readonly NewMessage[];
  /** The line number of each message. */
  readonly lines: readonly number[];
}

async function* batches(call: Call): AsyncGenerator<Batch> {
  let messages: NewMessage[] = [];
  let lines: number[] = [];
  for await (const { number, text } of readLines(call.io.stdin)) {
    messages.push(messageOf(text, number));
    lines.push(number);
    if (messages.length < BATCH) continue;
    yield { messages, lines };
    messages = [];
    lines = [];
  }
  if (messages.length > 0) yield { messages, lines };
}

/** The engine validates the message. */
function messageOf(text: string, line: number): NewMessage {
  checkJsonBounds(text, `line ${line}`, { line });
  try {
    return JSON.parse(withoutMark(text)) as NewMessage;
  } catch (cause) {
    throw new HoldfastError("invalid_input", `line ${line} is not JSON`, {
      hint: 'each line is one message: {"role":"user","content":"…"}',
      details: { line },
      cause,
    });
  }
}

async function addBatch(
  session: Session,
  messages: readonly NewMessage[],
  lines: readonly number[],
  options: WriteOptions,
): Promise<Added> {
  try {
    return await session.add(messages, options);
  } catch (error) {
    throw inLines(error, lines);
  }
}

/** The engine's errors count messages of a call; this counts input lines. */
function inLines(error: unknown, lines: readonly number[]): unknown {
  if (!(error instanceof HoldfastError)) return error;
  const { code, message, hint, details, cause } = error;
  const named = message.replace(/\bmessages\[(\d+)\]\.?/g, (_, at) => `line ${lines[Number(at)] ?? "?"}: `);
  return new HoldfastError(code, named, { ...(hint && { hint }), details, cause });
}

function withCount(error: unknown, count: number): unknown {
  if (!(error instanceof HoldfastError)) return error;
  const { code, message, hint, details, cause } = error;
  const said = `${counted(count, "message")} before it were added; run it again with the rest${hint ? `. ${hint}` : ""}`;
  return new HoldfastError(code, message, { hint: said, details: { ...details, added: count }, cause });
}

async function print(call: Call, added: readonly Added[]): Promise<void> {
  const { printer, scope } = call;
  const ids = added.flatMap((one) => one.ids);
  const repeated = added.every((one) => one.repeated);
  if (printer.json) {
    const sequences = added.flatMap((one) => one.sequences);
    return printer.value({ scope, ids, sequences, repeated });
  }
  for (const id of ids) await printer.line(id);
  const count = counted(ids.length, "message");
  printer.note(styled("green", repeated ? `already there: ${count}` : `added ${count}`));
}

const nothingToAdd = (): HoldfastError =>
  new HoldfastError("invalid_input", "nothing to add", {
    hint: 'pass a text: holdfast add "I moved to Lisbon in May.", or pipe one in',
  });
