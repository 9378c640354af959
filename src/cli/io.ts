/** Io: the streams and the environment of a command, and a signal that ends it. Tests provide their own. */
import type { Readable, Writable } from "node:stream";

export type Input = Readable & { readonly isTTY?: boolean };
export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number };
export type Environment = { readonly [name: string]: string | undefined };

/** Why a command should end: Ctrl-C, SIGTERM, or a closed output pipe. */
export type EndReason = "SIGINT" | "SIGTERM" | "EPIPE";

export interface Io {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Environment;
  /** Aborted with an EndReason. */
  readonly signal: AbortSignal;
}

/** Whether the error was thrown because the command should end. */
export function isEnding(error: unknown, { aborted, reason }: AbortSignal): boolean {
  return aborted && (error === reason || (error instanceof Error && error.name === "AbortError"));
}

export function endReasonOf({ aborted, reason }: AbortSignal): EndReason | undefined {
  return aborted ? (reason as EndReason) : undefined;
}
