/** Call: one run of one command: what was typed, where it works, for whom, and how it prints. */
import type { Command } from "commander";
import type { Session } from "../session.js";
import type { Scope } from "../types.js";
import { EXIT } from "./exit-code.js";
import type { Io } from "./io.js";
import { type OpenedMemory, openMemoryAt } from "./opened-memory.js";
import { Printer } from "./output/printer.js";
import { Progress } from "./output/progress.js";
import { timeText } from "./output/time.js";
import { embeddingModelAt, type FilePlace, fileOnly, type Need, type PlaceFlags, placeOf, placeText } from "./place.js";
import { type ScopeFlags, scopeOf, scopeText, whereParts } from "./scope-flags.js";

export interface GlobalFlags extends PlaceFlags {
  readonly json?: boolean;
}

export interface Typed {
  /** `blocks edit` */
  readonly name: string;
  readonly args: readonly string[];
  readonly flags: object;
  /** The tree that the command is part of. */
  readonly program: Command;
}

const FOREVER_MS = 0x7fff_ffff;

export class Call {
  readonly io: Io;
  readonly printer: Printer;
  readonly args: readonly string[];
  /** How the command ends if it does not throw. */
  exitCode: number = EXIT.ok;
  readonly #typed: Typed;

  constructor(io: Io, typed: Typed) {
    this.io = io;
    this.#typed = typed;
    this.args = typed.args;
    this.printer = new Printer(io, this.flags().json === true);
  }

  /** The flags under the names that commander gives them. A command knows which it has defined. */
  flags<T extends object = Record<never, never>>(): T & GlobalFlags {
    return this.#typed.flags as T & GlobalFlags;
  }

  get program(): Command {
    return this.#typed.program;
  }

  get scope(): Scope {
    return scopeOf(this.flags<ScopeFlags>());
  }

  /** The arguments as one text: words need no quotes. Undefined if there are none. */
  get words(): string | undefined {
    return this.args.length === 0 ? undefined : this.args.join(" ");
  }

  /** An argument that commander has made sure of. */
  arg(at: number): string {
    return this.args[at] ?? "";
  }

  time(ms: number): string {
    return timeText(ms, this.printer.isTerminal);
  }

  progress(label: string, isWanted = true): Progress {
    return new Progress(this.io, label, isWanted && !this.printer.json);
  }

  /** Opens the memory, works with it, and closes it whatever happens. stderr says where it works. */
  async withMemory(need: Need, work: (memory: OpenedMemory) => Promise<void>, what = "everyone"): Promise<void> {
    const place = await placeOf(this.flags(), this.io.env);
    const memory = await openMemoryAt(place, need);
    try {
      this.printer.note(...whereParts(what, placeText(place)));
      await this.#untilEnded(work(memory));
    } finally {
      await memory.close();
    }
  }

  /** The same for one scope. */
  withSession(need: Need, work: (session: Session, memory: OpenedMemory) => Promise<void>): Promise<void> {
    const { scope } = this;
    return this.withMemory(need, async (memory) => work(memory.handle.session(scope), memory), scopeText(scope));
  }

  /** For commands, and flags, that work on the file itself. */
  file(what = this.#typed.name): Promise<FilePlace> {
    return fileOnly(this.flags(), this.io.env, what);
  }

  /** Whether the file is used by words only. Of a server nothing is known. */
  async isModelOff(): Promise<boolean> {
    const place = await placeOf(this.flags(), this.io.env);
    return place.kind === "file" && (await embeddingModelAt(place, this.io.env)) === "none";
  }

  /** A command that was asked to end does not wait for its answer. The memory is closed in order all the same. */
  async #untilEnded(work: Promise<void>): Promise<void> {
    const { signal } = this.io;
    const alive = setInterval(() => {}, FOREVER_MS); // nothing of the engine keeps a process alive that only listens
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
