/** Io: the streams of a command and the wish of whoever runs it that it ends. Tests give their own. */
import type { Readable, Writable } from "node:stream";

export type Input = Readable & { readonly isTTY?: boolean };
export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number };
export type Environment = { readonly [name: string]: string | undefined };

/** Why a command is to end: Ctrl-C, a request to end, or nobody reads what it prints. */
export type EndReason = "SIGINT" | "SIGTERM" | "EPIPE";

export interface Io {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Environment;
  /** Aborted with an EndReason. */
  readonly signal: AbortSignal;
}

/** Whether it was thrown because the command is to end, and not because something went wrong meanwhile. */
export function isEnding(error: unknown, { aborted, reason }: AbortSignal): boolean {
  return aborted && (error === reason || (error instanceof Error && error.name === "AbortError"));
}

export function endReasonOf({ aborted, reason }: AbortSignal): EndReason | undefined {
  return aborted ? (reason as EndReason) : undefined;
}
