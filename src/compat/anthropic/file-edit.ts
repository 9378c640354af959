/** Plans `str_replace` and `insert` from one reading of a file. */
import type { BlockChange } from "../../blocks/edit.js";
import { numbered } from "./file-view.js";
import { MemoryToolError, quoted } from "./memory-tool-error.js";

export interface FileEdit {
  readonly change: BlockChange;
  /** The answer for the model, given the resulting text. */
  readonly answer: (content: string) => string;
}

/** Lines shown before and after the first changed line. */
const AROUND = 2;
/** Number of line numbers listed when a text occurs several times. */
const PLACES_MAX = 20;

/** The text to replace must occur once. Overlapping occurrences count. */
export function replacement(path: string, content: string, oldText: string, newText: string): FileEdit {
  if (oldText === "") {
    throw new MemoryToolError(
      "invalid_input",
      "`old_str` is empty. Pass the text to replace, or use insert to add text.",
    );
  }
  const [line, ...more] = linesWith(content, oldText);
  if (line === undefined) {
    throw new MemoryToolError(
      "not_found",
      `No replacement was performed, old_str \`${quoted(oldText)}\` did not appear verbatim in ${path}.`,
    );
  }
  if (more.length > 0) {
    const lines = [...new Set([line, ...more])];
    const rest = lines.length > PLACES_MAX ? " and more" : "";
    throw new MemoryToolError(
      "conflict",
      `No replacement was performed. Multiple occurrences of old_str \`${quoted(oldText)}\` in lines: ${lines.slice(0, PLACES_MAX).join(", ")}${rest}. Please ensure it is unique`,
    );
  }
  return {
    change: { replace: oldText, with: newText },
    answer: (edited) =>
      `The memory file has been edited. Here is the snippet showing the change (with line numbers):\n${numbered(
        edited.split("\n"),
        Math.max(1, line - AROUND),
        line + AROUND,
      )}`,
  };
}

/** Inserts the text as separate lines after a line; its trailing line break, if any, ends its last line. */
export function insertion(path: string, content: string, after: number, text: string): FileEdit {
  const lines = content.split("\n");
  if (!Number.isInteger(after) || after < 0 || after > lines.length) {
    throw new MemoryToolError(
      "invalid_input",
      `Invalid \`insert_line\` parameter: ${after}. It should be within the range of lines of the file: [0, ${lines.length}]`,
    );
  }
  lines.splice(after, 0, text.endsWith("\n") ? text.slice(0, -1) : text);
  return { change: { content: lines.join("\n") }, answer: () => `The file ${path} has been edited.` };
}

/** The lines, from 1, in which occurrences start: at most two per line, and not many more than are listed. */
function linesWith(content: string, text: string): readonly number[] {
  const lines: number[] = [];
  let line = 1;
  let lineEnd = content.indexOf("\n");
  for (let at = content.indexOf(text); at >= 0 && lines.length <= 2 * PLACES_MAX; ) {
    for (; lineEnd >= 0 && lineEnd < at; lineEnd = content.indexOf("\n", lineEnd + 1)) line++;
    const isSecond = lines.at(-1) === line;
    lines.push(line);
    if (isSecond && lineEnd < 0) break;
    at = content.indexOf(text, isSecond ? lineEnd + 1 : at + 1);
  }
  return lines;
}
