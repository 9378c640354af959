/** How a command fails: line 1 what, line 2 what to do; with --json one JSON value. Both on stderr. */
import { CommanderError } from "commander";
import { HoldfastError } from "../errors.js";
import { EXIT, exitCodeOf } from "./exit-code.js";
import type { Printer } from "./output/printer.js";

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly retryable: boolean;
  readonly details?: { readonly [key: string]: unknown };
  readonly exitCode: number;
}

/** Prints the error and answers with the exit code. */
export function reportFailure(error: unknown, printer: Printer): number {
  const { exitCode, ...failure } = failureOf(error);
  if (printer.json) printer.failureRecord({ error: failure });
  else printer.failure(failure.message, failure.hint);
  return exitCode;
}

function failureOf(error: unknown): Failure {
  if (error instanceof HoldfastError) {
    const { code, message, hint, retryable, details } = error;
    return { code, message, hint, retryable, details, exitCode: exitCodeOf(code) };
  }
  if (error instanceof CommanderError) return { ...wordsOf(error), retryable: false, exitCode: EXIT.usage };
  const { message, code } = asError(error);
  const known = code === undefined ? undefined : SYSTEM[code];
  return {
    code: known?.code ?? "internal",
    message,
    hint: known?.hint ?? "this should not happen; please report it with the command that you gave",
    retryable: false,
    exitCode: known?.exitCode ?? EXIT.internal,
  };
}

/** What the system says of files that a command names. */
const SYSTEM: { readonly [code: string]: Pick<Failure, "code" | "exitCode"> & { readonly hint: string } } = {
  ENOENT: { code: "not_found", exitCode: EXIT.notFound, hint: "check the path" },
  EACCES: { code: "forbidden", exitCode: EXIT.refused, hint: "check who may read and write there" },
  EPERM: { code: "forbidden", exitCode: EXIT.refused, hint: "check who may read and write there" },
  EROFS: { code: "read_only", exitCode: EXIT.refused, hint: "choose a place that can be written to" },
  EISDIR: { code: "invalid_input", exitCode: EXIT.usage, hint: "name a file, not a folder" },
  ENOTDIR: { code: "invalid_input", exitCode: EXIT.usage, hint: "a part of the path is a file, not a folder" },
  EEXIST: { code: "conflict", exitCode: EXIT.no, hint: "choose another name, or move what is there away" },
  ENOSPC: { code: "store_failed", exitCode: EXIT.internal, hint: "make room on the disk" },
  EADDRINUSE: { code: "conflict", exitCode: EXIT.usage, hint: "choose another port with --port" },
};

function asError(error: unknown): { readonly message: string; readonly code?: string } {
  if (!(error instanceof Error)) return { message: String(error) };
  const { code } = error as NodeJS.ErrnoException;
  return { message: error.message, ...(code !== undefined && { code }) };
}

/** commander says what is wrong in one line, and what may have been meant in another, in brackets. */
function wordsOf({ message }: CommanderError): Pick<Failure, "code" | "message" | "hint"> {
  const [first = "", ...more] = message.split("\n");
  const meant = more
    .join(" ")
    .trim()
    .replace(/^\(|\)$/g, "");
  const hint = meant === "" ? "see: holdfast --help, or --help after any command" : meant.toLowerCase();
  return { code: "invalid_input", message: first.replace(/^error: /, ""), hint };
}
