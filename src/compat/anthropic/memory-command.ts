/** The six commands of the memory tool `memory_20250818`, and their parser. */
import type { ErrorCode } from "../../errors.js";
import { repairText } from "../../text.js";
import { type MemoryPath, parsePath } from "./memory-path.js";
import { MemoryToolError } from "./memory-tool-error.js";

/** Shows a file, or lists a directory. */
export interface ViewCommand {
  readonly command: "view";
  /** The path, under /memories. */
  readonly path: string;
  /** The first and the last line, from 1; -1 is the end. */
  readonly view_range?: readonly number[] | undefined;
}

/** Creates a file, or replaces one. */
export interface CreateCommand {
  readonly command: "create";
  /** The path, under /memories. */
  readonly path: string;
  /** The text of the file. */
  readonly file_text: string;
}

/** Replaces a text in a file. */
export interface StrReplaceCommand {
  readonly command: "str_replace";
  /** The path, under /memories. */
  readonly path: string;
  /** The text to replace; it must occur exactly once. */
  readonly old_str: string;
  /** What replaces it. */
  readonly new_str: string;
}

/** Inserts lines into a file. */
export interface InsertCommand {
  readonly command: "insert";
  /** The path, under /memories. */
  readonly path: string;
  /** The text is inserted after this line; 0 is the top. */
  readonly insert_line: number;
  /** The text to insert. */
  readonly insert_text: string;
}

/** Deletes a file or a directory. */
export interface DeleteCommand {
  readonly command: "delete";
  /** The path, under /memories. */
  readonly path: string;
}

/** Renames or moves a file or a directory. */
export interface RenameCommand {
  readonly command: "rename";
  /** The present path. */
  readonly old_path: string;
  /** The new path. */
  readonly new_path: string;
}

/** A command of the memory tool, as the model sends it. */
export type MemoryCommand =
  | ViewCommand
  | CreateCommand
  | StrReplaceCommand
  | InsertCommand
  | DeleteCommand
  | RenameCommand;

export const COMMANDS = ["view", "create", "str_replace", "insert", "delete", "rename"] as const;

/** The fields of a command, each validated on access, because the model's input is unchecked. */
export class CommandFields {
  readonly #fields: { readonly [key: string]: unknown };

  constructor(command: unknown) {
    if (typeof command !== "object" || command === null) {
      throw refused(`A command is an object whose \`command\` is one of ${COMMANDS.join(", ")}.`);
    }
    this.#fields = { ...command };
  }

  get command(): (typeof COMMANDS)[number] {
    const given = this.#fields["command"];
    const known = COMMANDS.find((command) => command === given);
    if (known === undefined) throw refused(`Unknown \`command\`. Use one of ${COMMANDS.join(", ")}.`, "unsupported");
    return known;
  }

  path(field: string): MemoryPath {
    return parsePath(this.#string(field, "such as /memories/notes.md"));
  }

  /** Text as the store keeps it: the store's repairs are applied before searching for it. */
  text(field: string): string {
    return repairText(this.#string(field, '"" for no text'));
  }

  /** Any number; whether the line exists depends on the file. */
  line(field: string): number {
    const value = this.#fields[field];
    if (typeof value !== "number") throw refused(`\`${field}\` is missing or not a number: pass a line number.`);
    return value;
  }

  range(field: string): readonly [number, number] | undefined {
    const value = this.#fields[field];
    if (value === undefined || value === null) return undefined;
    const [first, last, ...more] = Array.isArray(value) ? (value as readonly unknown[]) : [];
    if (Number.isInteger(first) && Number.isInteger(last) && more.length === 0) return [Number(first), Number(last)];
    throw refused(
      `Invalid \`${field}\` parameter: pass two line numbers, [first, last]; use -1 as the last line for the end.`,
    );
  }

  #string(field: string, example: string): string {
    const value = this.#fields[field];
    if (typeof value === "string") return value;
    throw refused(`\`${field}\` is missing or not a string: pass a string, ${example}.`);
  }
}

const refused = (message: string, code: ErrorCode = "invalid_input") => new MemoryToolError(code, message);
