/** ServerLog: the server's log. It records routes, codes and times, never a path with names in it, a header, or content. */
import { type Logger, pino } from "pino";
import { type ErrorCode, HoldfastError } from "../errors.js";
import { STATUS_OF } from "../schemas/envelope.js";

/** Not logged: under overload there is one of these per refused request. /metrics counts them. */
const TURNED_AWAY: ReadonlySet<ErrorCode> = new Set(["overloaded", "busy", "loading", "closed"]);

/** The server's log, for `createApp`. By default it goes to stderr. */
export class ServerLog {
  readonly #log: Logger;
  readonly #isVerbose: boolean;

  constructor(level: string, destination?: { write(line: string): void }) {
    const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
    this.#log = destination ? pino(options, destination) : pino(options, pino.destination({ dest: 2, sync: true }));
    this.#isVerbose = this.#log.isLevelEnabled("debug");
  }

  /** Logs an answer, at the level `debug`. */
  answered(route: string, status: number, ms: number, key: string | undefined): void {
    if (this.#isVerbose) this.#log.debug({ route, status, ms: Math.round(ms * 100) / 100, key }, "answered");
  }

  /** Logs what the installation lacks, and what to do. */
  advise(advice: string): void {
    this.#log.error(advice);
  }

  /** Logs a server failure. Errors of the caller, and those it should retry, go to the caller only. */
  failed(route: string, error: unknown): void {
    if (error instanceof HoldfastError) {
      if (STATUS_OF[error.code] < 500 || TURNED_AWAY.has(error.code)) return;
      this.#log.error({ route, code: error.code, hint: error.hint }, error.message);
      return;
    }
    // The message may quote user data; stack frames do not.
    const { name, stack = "" } = error instanceof Error ? error : new Error();
    const frames = stack.split("\n").filter((line) => /^\s+at /.test(line));
    this.#log.error({ route, name, frames: frames.slice(0, 8).map((line) => line.trim()) }, "unexpected failure");
  }
}
