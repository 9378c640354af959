/** holdfast add: stores messages. */
import { HoldfastError } from "../../errors.js";
import type { Session } from "../../session.js";
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
  readonly idempotencyKey?: string;
}

/** Lines that become one commit: all or nothing. */
const BATCH = 256;

export const addCommand: Definition = {
  name: "add",
  args: "[text...]",
  argHelp: { text: "what was said; - or nothing: what is piped in" },
  purpose: "Store a message; when it returns, it is durable and can be found.",
  about:
    "Prints the ids. Its words can be found at once; what it means is computed later, by a server, by holdfast flush, or, if not much waits, by the next query.",
  options: [
    choiceFlag("--role <role>", "who speaks", ROLES).default("user"),
    flag("--name <name>", "the speaker's name, where the role is not enough"),
    flag("--at <time>", `when it was said (default: now): ${TIME_FORM} ago`, moment),
    flag("--expires <time>", "forget it then: a date, a time, or in a span such as 30d", futureMoment),
    flag("--metadata <json>", "a JSON object that is kept with it", jsonObject),
    flag("--id <id>", "an id of your own; adding it again with the same text adds nothing"),
    flag("--knowledge", "something that is known, and that nobody said"),
    flag("--jsonl", 'read messages, one JSON object per line: {"role":"user","content":"…"}'),
    flag("--idempotency-key <key>", "a retry with the same key adds nothing, for 7 days"),
  ],
  isScoped: true,
  examples: [
    'holdfast add "I moved to Lisbon in May."',
    'git log -1 --format=%B | holdfast add --user ada --session "code review" --role tool',
    "holdfast add --jsonl --user ada --session monday < messages.jsonl",
  ],
  run: (call) => (call.flags<AddFlags>().jsonl ? addLines(call) : addText(call)),
};

async function addText(call: Call): Promise<void> {
  const { role, name, id, at, expires, metadata, knowledge, idempotencyKey } = call.flags<AddFlags>();
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
  const options = idempotencyKey === undefined ? {} : { idempotencyKey };
  await call.withSession({ create: true }, async (session) => {
    const added = knowledge
      ? await session.addItems([{ kind: "knowledge", ...message }], options)
      : await session.add([{ role, ...message }], options);
    await print(call, [added]);
  });
}

/** Lines are written as they come, 256 at a time, so that a file of any size can be piped in. */
async function addLines(call: Call): Promise<void> {
  const { idempotencyKey } = call.flags<AddFlags>();
  if (call.args.length > 0) {
    throw new HoldfastError("invalid_input", "--jsonl reads messages from stdin, and a text was given too", {
      hint: "leave out the one or the other",
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
  /** The number of each message's line. */
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

/** The engine checks what it says. */
function messageOf(text: string, line: number): NewMessage {
  try {
    return JSON.parse(text) as NewMessage;
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
  options: { readonly idempotencyKey?: string },
): Promise<Added> {
  try {
    return await session.add(messages, options);
  } catch (error) {
    throw inLines(error, lines);
  }
}

/** The engine counts messages of a call; whoever piped them in counts lines. */
function inLines(error: unknown, lines: readonly number[]): unknown {
  if (!(error instanceof HoldfastError)) return error;
  const { code, message, hint, details, cause } = error;
  const named = message.replace(/\bmessages\[(\d+)\]\.?/g, (_, at) => `line ${lines[Number(at)] ?? "?"}: `);
  return new HoldfastError(code, named, { ...(hint && { hint }), details, cause });
}

function withCount(error: unknown, count: number): unknown {
  if (!(error instanceof HoldfastError)) return error;
  const { code, message, hint, details, cause } = error;
  const said = `${counted(count, "message")} before it were added; give the rest again${hint ? `. ${hint}` : ""}`;
  return new HoldfastError(code, message, { hint: said, details: { ...details, added: count }, cause });
}

async function print(call: Call, added: readonly Added[]): Promise<void> {
  const { printer, scope } = call;
  const ids = added.flatMap((one) => one.ids);
  const repeated = added.every((one) => one.repeated);
  if (printer.json) {
    const sequences = added.flatMap((one) => one.sequences);
    return printer.value({ scope, ids, sequences, commit: added.at(-1)?.commit, repeated });
  }
  for (const id of ids) await printer.line(id);
  const count = counted(ids.length, "message");
  printer.note(styled("green", repeated ? `there already: ${count}` : `added ${count}`));
}

const nothingToAdd = (): HoldfastError =>
  new HoldfastError("invalid_input", "there is nothing to add", {
    hint: 'give a text: holdfast add "I moved to Lisbon in May.", or pipe one in',
  });
