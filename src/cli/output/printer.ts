/**
 * Printer: the only one that writes to the streams of a command.
 *
 * - stdout has what was asked for: one JSON value with --json, else text for people. stderr has notes and errors.
 * - Whatever is given to it is shown, not obeyed (printable.ts). Colour comes from styles alone.
 * - On a terminal tables are aligned and cut to its width. Elsewhere the text is plain, whole, and the same every time.
 */
import type { Io } from "../io.js";
import { printableJson, printableLine, printableText, safeJson } from "./printable.js";
import { type Column, plainLines } from "./rows.js";
import { hasColor, type Part, painted, textOf } from "./style.js";

const WIDTH = 80;
const INDENT = 2;

export class Printer {
  readonly json: boolean;
  readonly isTerminal: boolean;
  readonly width: number;
  readonly #io: Io;
  readonly #isColored: boolean;
  readonly #areNotesColored: boolean;

  constructor(io: Io, json: boolean) {
    this.#io = io;
    this.json = json;
    this.isTerminal = io.stdout.isTTY === true;
    this.width = io.stdout.columns || WIDTH;
    this.#isColored = hasColor(io.stdout, io.env);
    this.#areNotesColored = hasColor(io.stderr, io.env);
  }

  /** One JSON value; indented for people. */
  value(value: unknown): Promise<void> {
    return this.#write(`${printableJson(value, this.isTerminal ? INDENT : undefined)}\n`);
  }

  /** One JSON value on one line, of a stream of them. */
  record(value: unknown): Promise<void> {
    return this.#write(`${printableJson(value)}\n`);
  }

  /** JSON that is made already. */
  jsonLine(json: string): Promise<void> {
    return this.#write(`${safeJson(json)}\n`);
  }

  line(...parts: readonly Part[]): Promise<void> {
    return this.#write(`${this.#joined(parts, this.#isColored)}\n`);
  }

  /** A line that is cut to the terminal's width. */
  async cutLine(indent: string, text: string): Promise<void> {
    const line = printableLine(indent + text);
    // What measures widths takes long to load, and is needed on terminals alone.
    return this.#write(`${this.isTerminal ? (await import("./cut.js")).cut(line, this.width) : line}\n`);
  }

  /** Several lines, whole. */
  text(text: string): Promise<void> {
    return this.#write(`${printableText(text)}\n`);
  }

  /** A text that was asked for as such. On a terminal it is shown; elsewhere it is data, and handed on byte for byte. */
  body(text: string): Promise<void> {
    return this.isTerminal ? this.text(text) : this.#write(text);
  }

  async table(columns: readonly Column[], rows: readonly (readonly Part[])[]): Promise<void> {
    const look = { width: this.width, isColored: this.#isColored };
    const lines = this.isTerminal
      ? (await import("./table.js")).tableLines(columns, rows, look)
      : plainLines(columns, rows);
    return this.#write(`${lines.join("\n")}\n`);
  }

  /** A row of a list that has no end: its cells with a tab between, whole. */
  row(cells: readonly string[]): Promise<void> {
    return this.#write(`${cells.map(printableLine).join("\t")}\n`);
  }

  /** Beside the answer, for people. */
  note(...parts: readonly Part[]): void {
    if (!this.json) this.#io.stderr.write(`${this.#joined(parts, this.#areNotesColored)}\n`);
  }

  /** Line 1 what, line 2 what to do. */
  failure(message: string, hint: string | undefined): void {
    const lines = [[{ style: "red", text: "holdfast: " } as const, message], ...(hint ? [[`  ${hint}`]] : [])];
    for (const parts of lines) this.#io.stderr.write(`${this.#joined(parts, this.#areNotesColored)}\n`);
  }

  failureRecord(value: unknown): void {
    this.#io.stderr.write(`${printableJson(value)}\n`);
  }

  #joined(parts: readonly Part[], isColored: boolean): string {
    return parts
      .map((part) => {
        const text = printableLine(textOf(part));
        return isColored && typeof part === "object" ? painted(text, part.style) : text;
      })
      .join("");
  }

  /** Resolves when the text was taken: a slow reader slows us down. What nobody takes any more ends the command elsewhere. */
  #write(text: string): Promise<void> {
    return new Promise((resolve) => this.#io.stdout.write(text, () => resolve()));
  }
}
