/**
 * Printer: the only writer to a command's streams.
 *
 * - stdout gets the result: one JSON value with --json, otherwise text for people. stderr gets notes and errors.
 * - Control characters in text are escaped (printable.ts). Colours come from styles only.
 * - On a terminal, tables are aligned and cut to its width. Elsewhere text is plain, complete and stable.
 */
import { escapedJson } from "../../rendered.js";
import type { Io } from "../io.js";
import { printableJson, printableLine, printableText } from "./printable.js";
import { type Column, plainLines } from "./rows.js";
import { hasColor, type Part, painted, textOf } from "./style.js";
import { wrapped } from "./wrap.js";

const WIDTH = 80;
const INDENT = 2;
const NAME = "holdfast: ";

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

  /** One JSON value, indented on a terminal. */
  value(value: unknown): Promise<void> {
    return this.#write(`${printableJson(value, this.isTerminal ? INDENT : undefined)}\n`);
  }

  /** One JSON value of a stream, on one line. */
  record(value: unknown): Promise<void> {
    return this.#write(`${printableJson(value)}\n`);
  }

  /** JSON that is already serialized. */
  jsonLine(json: string): Promise<void> {
    return this.#write(`${escapedJson(json)}\n`);
  }

  line(...parts: readonly Part[]): Promise<void> {
    return this.#write(`${this.#joined(parts, this.#isColored)}\n`);
  }

  /** A line, cut to the terminal's width. */
  async cutLine(indent: string, text: string): Promise<void> {
    const line = printableLine(indent + text);
    // Measuring widths takes long to load and is only needed on terminals.
    return this.#write(`${this.isTerminal ? (await import("./cut.js")).cut(line, this.width) : line}\n`);
  }

  /** What an entry is, and its id, which is never cut: on a terminal it gets a line of its own if it does not fit. */
  async head(facts: readonly string[], id: string, { mark = "", indent = INDENT } = {}): Promise<void> {
    const shown = facts.filter((fact) => fact !== "").join("  ");
    const name: Part = { style: "bold", text: mark };
    if (!this.isTerminal) return this.line(name, `${shown}  ${id}`);
    const { cut, widthOf } = await import("./cut.js");
    const [before, line] = [printableLine(mark), printableLine(shown)];
    if (widthOf(`${before}${line}  ${id}`) <= this.width) {
      return this.line(name, { style: "dim", text: `${shown}  ${id}` });
    }
    await this.#write(
      `${this.#joined([name], this.#isColored)}${this.#dimmed(cut(line, this.width - widthOf(before)))}\n`,
    );
    return this.line({ style: "dim", text: " ".repeat(indent) + id });
  }

  #dimmed(printable: string): string {
    return this.#isColored ? painted(printable, "dim") : printable;
  }

  /** Several lines. On a terminal they are broken between words. */
  async text(text: string, style?: "dim"): Promise<void> {
    const lines = printableText(text);
    if (!this.isTerminal) return this.#write(`${lines}\n`);
    const shown = wrapped(lines, this.width, (await import("./cut.js")).widthOf);
    return this.#write(`${style === undefined ? shown : this.#dimmed(shown)}\n`);
  }

  /** A text that is itself the result, such as a diff: its own lines, escaped on a terminal, byte for byte elsewhere. */
  body(text: string): Promise<void> {
    return this.#write(this.isTerminal ? `${printableText(text)}\n` : text);
  }

  async table(columns: readonly Column[], rows: readonly (readonly Part[])[]): Promise<void> {
    const look = { width: this.width, isColored: this.#isColored };
    const lines = this.isTerminal
      ? (await import("./table.js")).tableLines(columns, rows, look)
      : plainLines(columns, rows);
    return this.#write(`${lines.join("\n")}\n`);
  }

  /** A row of an endless list: its cells, uncut, separated by tabs. */
  row(cells: readonly string[]): Promise<void> {
    return this.#write(`${cells.map(printableLine).join("\t")}\n`);
  }

  /** A note beside the result, on stderr. */
  note(...parts: readonly Part[]): void {
    if (this.json) return;
    const [only, ...more] = parts;
    const text = more.length === 0 && only !== undefined ? this.#broken(printableLine(textOf(only))) : "";
    if (!text.includes("\n")) this.#io.stderr.write(`${this.#joined(parts, this.#areNotesColored)}\n`);
    else for (const line of text.split("\n")) this.note(typeof only === "object" ? { ...only, text: line } : line);
  }

  /** Line 1 says what, line 2 what to do. */
  failure(message: string, hint: string | undefined): void {
    const name: Part = { style: "red", text: NAME };
    const what = this.#broken(`${NAME}${printableLine(message)}`).slice(NAME.length);
    this.#io.stderr.write(`${this.#joined([name], this.#areNotesColored)}${what}\n`);
    if (hint) this.#io.stderr.write(`${indented(this.#broken(printableLine(hint), INDENT))}\n`);
  }

  /** A printable line for stderr, broken between words on a terminal. */
  #broken(line: string, indent = 0): string {
    const { isTTY, columns } = this.#io.stderr;
    return isTTY ? wrapped(line, (columns || WIDTH) - indent) : line;
  }

  /** A question on stderr. */
  question(text: string): string {
    return this.#broken(printableLine(text));
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

  /** Resolves when the text was accepted, so that a slow reader slows the command down. */
  #write(text: string): Promise<void> {
    return new Promise((resolve) => this.#io.stdout.write(text, () => resolve()));
  }
}

const indented = (lines: string): string => lines.replace(/^/gm, " ".repeat(INDENT));
