/** A real child process: orders go in as messages, reports come out of a pipe that the child writes synchronously. */
import { type ChildProcess, fork, type Serializable } from "node:child_process";
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

/** The pipe's number in the child. */
export const REPORTS = 3;

export interface ChildOptions {
  /** Variables beside those of this process. */
  readonly env?: { readonly [name: string]: string };
  /** Node's own; none if left out. */
  readonly execArgv?: readonly string[];
}

export interface End {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** What it said on its standard error. */
  readonly stderr: string;
}

export class Child<Order extends Serializable, Report> {
  /** Resolves when the process has ended and its last report was handed over. */
  readonly ended: Promise<End>;
  readonly #process: ChildProcess;

  /** Requires a compiled module that calls `report`. Each report is handed over in order. */
  constructor(
    module: URL,
    args: readonly string[],
    onReport: (report: Report) => void,
    { env = {}, execArgv = [] }: ChildOptions = {},
  ) {
    const child = fork(module, args, {
      stdio: ["ignore", "inherit", "pipe", "pipe", "ipc"],
      execArgv: [...execArgv], // not the test runner's
      env: { ...process.env, ...env },
    });
    this.#process = child;
    let stderr = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    const lines = createInterface({ input: child.stdio[REPORTS] as Readable });
    lines.on("line", (line) => {
      const report = parse<Report>(line);
      if (report !== undefined) onReport(report);
    });
    const read = new Promise<void>((resolve) => lines.once("close", resolve));
    // An order to a process that is being killed cannot arrive; that it has ended is told by `ended`.
    child.on("error", () => undefined);
    this.ended = new Promise<End>((resolve) => {
      child.once("close", (code, signal) => read.then(() => resolve({ code, signal, stderr })));
    });
  }

  give(order: Order): void {
    if (this.#process.connected) this.#process.send(order);
  }

  /** Kills it at once (SIGKILL): it gets no chance to tidy up. */
  kill(): void {
    this.#process.kill("SIGKILL");
  }

  /** Holds it where it is (SIGSTOP), in whatever it is doing, until `resume`. */
  suspend(): void {
    this.#process.kill("SIGSTOP");
  }

  resume(): void {
    this.#process.kill("SIGCONT");
  }
}

/** A line that the kill has cut short says nothing. */
function parse<Report>(line: string): Report | undefined {
  try {
    return JSON.parse(line) as Report;
  } catch {
    return undefined;
  }
}

/**
 * In the child: tells the parent. When it returns the report has left the process, and a kill cannot take it back:
 * what the caller of an add knows, the parent knows.
 */
export function report(value: unknown): void {
  const bytes = Buffer.from(`${JSON.stringify(value)}\n`);
  for (let sent = 0; sent < bytes.length; ) sent += writeSync(REPORTS, bytes, sent);
}

/** In the child: what to do with the parent's orders. The process lives no longer than its parent. */
export function onOrder<Order>(handle: (order: Order) => void): void {
  process.once("disconnect", () => process.exit());
  process.on("message", (order) => handle(order as Order));
}
