/** Runs the command line in this process with its own streams, or as a real child process. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";
import type { programOf as program } from "../../build/lib/cli/program.js";
import type { run as runCli } from "../../build/lib/cli/run.js";
import { root } from "../support/root.js";

const part = (path: string): Promise<unknown> => import(pathToFileURL(join(root, "build/lib/cli", path)).href);
const { run } = (await part("run.js")) as { readonly run: typeof runCli };
export const { programOf } = (await part("program.js")) as { readonly programOf: typeof program };

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface Setting {
  /** Piped input; if absent, stdin is a terminal without input. */
  readonly stdin?: string | Iterable<string | Uint8Array> | Readable;
  /** stdout and stderr are terminals of this many columns. */
  readonly columns?: number;
  readonly env?: { readonly [name: string]: string };
  readonly signal?: AbortSignal;
  /** Called with output as it is printed. */
  readonly onOut?: (text: string) => void;
}

export async function holdfast(argv: readonly string[], setting: Setting = {}): Promise<Ran> {
  const { stdin, columns, env = {}, signal = new AbortController().signal, onOut } = setting;
  const out = new Sink(columns, onOut);
  const err = new Sink(columns);
  const code = await run(argv, {
    stdin: stdin === undefined ? Object.assign(new Readable({ read() {} }), { isTTY: true }) : piped(stdin),
    stdout: out,
    stderr: err,
    env: { ...process.env, TERM: "xterm", ...env },
    signal,
  });
  return { code, out: out.text, err: err.text };
}

function piped(stdin: NonNullable<Setting["stdin"]>): Readable {
  if (stdin instanceof Readable) return stdin;
  const chunks = typeof stdin === "string" ? [stdin] : [...stdin];
  return Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
}

class Sink extends Writable {
  text = "";
  readonly isTTY: boolean;
  readonly columns: number;
  readonly #onText: ((text: string) => void) | undefined;

  constructor(columns: number | undefined, onText?: (text: string) => void) {
    super();
    this.isTTY = columns !== undefined;
    this.columns = columns ?? 0;
    this.#onText = onText;
  }

  override _write(chunk: Buffer, _: string, done: () => void): void {
    this.text += chunk.toString("utf8");
    this.#onText?.(chunk.toString("utf8"));
    done();
  }
}

/** The output as JSON; fails with the output if it is not JSON. */
export function jsonOf<T = { readonly [key: string]: unknown }>({ out, err, code }: Ran): T {
  if (out === "") throw new Error(`no output; exit code ${code}: ${err}`);
  return JSON.parse(out) as T;
}

export function errorOf({ err }: Ran): { readonly code: string; readonly message: string; readonly hint: string } {
  return (JSON.parse(err) as { readonly error: { code: string; message: string; hint: string } }).error;
}

/** A real process. Its output is collected; `until` waits for a text on stdout. */
export class Process {
  out = "";
  err = "";
  readonly child: ChildProcess;
  readonly ended: Promise<number | NodeJS.Signals>;

  constructor(command: string, args: readonly string[], env: { readonly [name: string]: string } = {}) {
    this.child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ["pipe", "pipe", "pipe"] });
    this.child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.out += text;
    });
    this.child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.err += text;
    });
    this.ended = once(this.child, "close").then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals);
  }

  /** The compiled command, as the shell would start it. */
  static holdfast(args: readonly string[], env?: { readonly [name: string]: string }): Process {
    return new Process(process.execPath, [MAIN, ...args], env);
  }

  async until(text: string): Promise<void> {
    while (!this.out.includes(text)) {
      const more = once(this.child.stdout as NodeJS.EventEmitter, "data").then(() => true);
      if (!(await Promise.race([more, this.ended.then(() => false)]))) {
        throw new Error(`it ended without saying ${JSON.stringify(text)}: ${this.out}${this.err}`);
      }
    }
  }
}

export const MAIN = join(root, "dist/cli/main.js");
