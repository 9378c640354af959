/** Progress: a bar on stderr for long work. It is shown on a terminal only, and not with --json. */
import type { Io } from "../io.js";

const EVERY_MS = 100;
const BAR = 24;
const CLEAR = "\r\u001b[K";

export class Progress {
  readonly #stream: Io["stderr"];
  readonly isShown: boolean;
  readonly #label: string;
  #drawnAt = Number.NEGATIVE_INFINITY;

  constructor({ stderr }: Pick<Io, "stderr">, label: string, isWanted: boolean) {
    this.#stream = stderr;
    this.#label = label;
    this.isShown = isWanted && stderr.isTTY === true;
  }

  /** Without a total it shows a count. */
  update(done: number, total?: number): void {
    const now = performance.now();
    if (!this.isShown || now - this.#drawnAt < EVERY_MS) return;
    this.#drawnAt = now;
    this.#stream.write(`${CLEAR}${this.#label}  ${total ? bar(done, total) : done.toLocaleString("en")}`);
  }

  /** Removes the bar. */
  end(): void {
    if (this.#drawnAt > Number.NEGATIVE_INFINITY) this.#stream.write(CLEAR);
    this.#drawnAt = Number.NEGATIVE_INFINITY;
  }
}

function bar(done: number, total: number): string {
  const share = Math.min(1, done / total);
  const filled = Math.round(share * BAR);
  const counts = `${done.toLocaleString("en")} of ${total.toLocaleString("en")}`;
  return `[${"#".repeat(filled)}${" ".repeat(BAR - filled)}] ${Math.floor(share * 100)}%  ${counts}`;
}
