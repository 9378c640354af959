/** Reports errors on stderr: the first line says what, the second what to do; with --json one JSON value. */
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

/** Prints the error and returns the exit code. `command` is the one that was called, with the groups that it is in. */
export function reportFailure(error: unknown, printer: Printer, command = "holdfast"): number {
  const { exitCode, ...failure } = failureOf(error, command);
  if (printer.json) printer.failureRecord({ error: failure });
  else printer.failure(failure.message, failure.hint);
  return exitCode;
}

function failureOf(error: unknown, command: string): Failure {
  if (error instanceof HoldfastError) {
    const { code, message, hint, retryable, details } = error;
    return { code, message, hint, retryable, details, exitCode: exitCodeOf(code) };
  }
  if (error instanceof CommanderError) return { ...wordsOf(error, command), retryable: false, exitCode: EXIT.usage };
  const { message, code, path } = asError(error);
  const known = code === undefined ? undefined : SYSTEM[code];
  return {
    code: known?.code ?? "internal",
    message: code === "ENOENT" && path !== undefined ? `${path} does not exist` : message,
    hint: known?.hint ?? "this is a bug; please report it together with the command",
    retryable: false,
    exitCode: known?.exitCode ?? EXIT.internal,
  };
}

/** Errors of the system about files that a command names. */
const SYSTEM: { readonly [code: string]: Pick<Failure, "code" | "exitCode"> & { readonly hint: string } } = {
  ENOENT: { code: "not_found", exitCode: EXIT.notFound, hint: "check the path" },
  EACCES: { code: "forbidden", exitCode: EXIT.refused, hint: "check the permissions" },
  EPERM: { code: "forbidden", exitCode: EXIT.refused, hint: "check the permissions" },
  EROFS: { code: "read_only", exitCode: EXIT.refused, hint: "choose a writable location" },
  EISDIR: { code: "invalid_input", exitCode: EXIT.usage, hint: "pass a file, not a folder" },
  ENOTDIR: { code: "invalid_input", exitCode: EXIT.usage, hint: "part of the path is a file, not a folder" },
  EEXIST: { code: "conflict", exitCode: EXIT.no, hint: "choose another name, or move the existing file" },
  ELOOP: { code: "invalid_input", exitCode: EXIT.usage, hint: "a link in the path points to itself" },
  ENAMETOOLONG: { code: "invalid_input", exitCode: EXIT.usage, hint: "choose a shorter path" },
  EIO: { code: "store_failed", exitCode: EXIT.internal, hint: "check the disk and the system log" },
  EMFILE: { code: "store_failed", exitCode: EXIT.internal, hint: "allow the process to open more files (ulimit -n)" },
  ENOSPC: { code: "store_failed", exitCode: EXIT.internal, hint: "free some disk space" },
  EADDRINUSE: { code: "conflict", exitCode: EXIT.usage, hint: "choose another port with --port" },
};

function asError(error: unknown): Pick<NodeJS.ErrnoException, "message" | "code" | "path"> {
  return error instanceof Error ? error : { message: String(error) };
}

/** commander reports the error on one line, and a suggestion in parentheses on another. */
function wordsOf({ message }: CommanderError, command: string): Pick<Failure, "code" | "message" | "hint"> {
  const [first = "", ...more] = message.split("\n");
  const meant = more
    .join(" ")
    .trim()
    .replace(/^\(|\)$/g, "");
  const hint = meant === "" ? `see: ${command} --help` : meant.toLowerCase();
  return { code: "invalid_input", message: first.replace(/^error: /, ""), hint };
}
