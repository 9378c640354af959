/** Call: one run of one command: its arguments, the memory it works on, its scope, and its output. */
import type { Command } from "commander";
import type { WriteOptions } from "../input/call.js";
import type { Session } from "../session.js";
import type { Scope } from "../types.js";
import { EXIT } from "./exit-code.js";
import type { Io } from "./io.js";
import { type OpenedMemory, openMemoryAt } from "./opened-memory.js";
import { Printer } from "./output/printer.js";
import { Progress } from "./output/progress.js";
import { styled } from "./output/style.js";
import { timeText } from "./output/time.js";
import {
  embeddingModelAt,
  type FilePlace,
  fileOnly,
  filePlaceOf,
  type Need,
  type Place,
  type PlaceFlags,
  placeOf,
  placeText,
} from "./place.js";
import { type ScopeFlags, scopeOf, scopeText, whereParts } from "./scope-flags.js";

export interface GlobalFlags extends PlaceFlags {
  readonly json?: boolean;
}

export interface Typed {
  /** `blocks edit` */
  readonly name: string;
  readonly args: readonly string[];
  readonly flags: object;
  /** The command tree. */
  readonly program: Command;
}

const FOREVER_MS = 0x7fff_ffff;

export class Call {
  readonly io: Io;
  readonly printer: Printer;
  readonly args: readonly string[];
  /** The exit code if the command does not throw. */
  exitCode: number = EXIT.ok;
  readonly #typed: Typed;

  constructor(io: Io, typed: Typed) {
    this.io = io;
    this.#typed = typed;
    this.args = typed.args;
    this.printer = new Printer(io, this.flags().json === true);
  }

  /** The flags under commander's names. A command knows which flags it has defined. */
  flags<T extends object = Record<never, never>>(): T & GlobalFlags {
    return this.#typed.flags as T & GlobalFlags;
  }

  get program(): Command {
    return this.#typed.program;
  }

  get scope(): Scope {
    return scopeOf(this.flags<ScopeFlags>());
  }

  /** The idempotency key, if the command takes one. */
  get key(): WriteOptions {
    const { idempotencyKey } = this.flags<WriteOptions>();
    return idempotencyKey === undefined ? {} : { idempotencyKey };
  }

  /** The arguments joined into one text, so that words need no quotes. Undefined if there are none. */
  get words(): string | undefined {
    return this.args.length === 0 ? undefined : this.args.join(" ");
  }

  /** An argument whose presence commander has checked. */
  arg(at: number): string {
    return this.args[at] ?? "";
  }

  time(ms: number): string {
    return timeText(ms, this.printer.isTerminal);
  }

  progress(label: string, isWanted = true): Progress {
    return new Progress(this.io, label, isWanted && !this.printer.json);
  }

  /** Opens the memory, runs `work` and always closes it. Prints on stderr where it works. */
  async withMemory(need: Need, work: (memory: OpenedMemory) => Promise<void>, what = "everyone"): Promise<void> {
    const place = await this.place();
    const memory = await openMemoryAt(place, need);
    try {
      this.printer.note(...whereParts(what, placeText(place)));
      await this.#untilEnded(work(memory));
      if (memory.advice !== undefined) this.printer.note(styled("yellow", memory.advice));
    } finally {
      await memory.close();
    }
  }

  /** As `withMemory`, for one scope. */
  withSession(need: Need, work: (session: Session, memory: OpenedMemory) => Promise<void>): Promise<void> {
    const { scope } = this;
    return this.withMemory(need, async (memory) => work(memory.handle.session(scope), memory), scopeText(scope));
  }

  /** The file or the server that the command works on. */
  place(): Promise<Place> {
    return placeOf(this.flags(), this.io.env);
  }

  /** For commands and flags that work on the file itself. */
  file(what = this.#typed.name): Promise<FilePlace> {
    return fileOnly(this.flags(), this.io.env, what);
  }

  /** For commands that work on a file even if the environment names a server. */
  ownFile(): Promise<FilePlace> {
    return filePlaceOf(this.flags(), this.io.env);
  }

  /** Whether search is by words only. Unknown (false) for a server. */
  async isModelOff(): Promise<boolean> {
    const place = await this.place();
    return place.kind === "file" && (await embeddingModelAt(place, this.io.env)) === "none";
  }

  /** A command that is asked to end does not wait for its answer. The memory is still closed properly. */
  async #untilEnded(work: Promise<void>): Promise<void> {
    const { signal } = this.io;
    const alive = setInterval(() => {}, FOREVER_MS); // the engine alone does not keep the process alive
    let stop = (): void => {};
    const ended = new Promise<void>((resolve) => {
      stop = resolve;
      signal.addEventListener("abort", stop, { once: true });
      if (signal.aborted) resolve();
    });
    try {
      await Promise.race([work, ended]);
    } finally {
      clearInterval(alive);
      signal.removeEventListener("abort", stop);
    }
  }
}
