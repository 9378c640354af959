/**
 * A refused command of the memory tool. The message is for the model: it says what is wrong and what to do instead, and may
 * repeat the model's input (a path, the text it looked for). So log `code` instead.
 */
import { type ErrorCode, HoldfastError } from "../../errors.js";
import { leading } from "../../graphemes.js";

/** A refused command of the memory tool. Its message is for the model. */
export class MemoryToolError extends Error {
  override readonly name = "MemoryToolError";
  /** What went wrong. Log this: the message may repeat the model's input. */
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

/** Limit of the model's own text in a message, so that a mistake does not fill its context. */
const QUOTED_UNITS_MAX = 1_000;

export const quoted = (text: string): string =>
  text.length > QUOTED_UNITS_MAX ? `${leading(text, QUOTED_UNITS_MAX)}…` : text;

export const missing = (path: string): MemoryToolError =>
  new MemoryToolError("not_found", `The path ${path} does not exist. Please provide a valid path.`);

/** Rewords an engine error for the model, which has no options or settings. */
export function refusalOf(error: unknown, path: string): unknown {
  if (!(error instanceof HoldfastError)) return error;
  const { code, message, hint, details } = error;
  const say = (text: string) => new MemoryToolError(code, text, error);
  if (code === "not_found") return say(missing(path).message);
  if (code === "read_only") return say(readOnlyText(path));
  if (code === "too_large") {
    const limit = details["maxTokens"] === undefined ? "what one file can hold" : `its ${details["maxTokens"]} tokens`;
    return say(
      `The file ${path} would exceed ${limit}, so nothing was changed. Shorten the text, or move part of it to another file.`,
    );
  }
  if (code === "conflict") {
    return say(`The file ${path} is being edited by others, so nothing was changed. View it and repeat the command.`);
  }
  return say(hint === undefined ? message : `${message}; ${hint}`);
}

export const readOnlyText = (path: string): string =>
  `The file ${path} is read-only, so nothing was changed. Use another file, or ask the user to make it writable.`;
