/** Formats files and directories with the wording that models know from the memory tool. */
import { rendered } from "../../rendered.js";
import type { Block } from "../../stores/blocks.js";
import { bytesOf } from "../../text.js";
import { entriesIn, type FileTree } from "./file-tree.js";
import type { MemoryPath } from "./memory-path.js";
import { MemoryToolError } from "./memory-tool-error.js";

const LEVELS = 2;
const NUMBER_WIDTH = 6;
const UNITS = ["B", "K", "M", "G"] as const;

/** A directory, two levels deep, without hidden names and node_modules. */
export function directoryView({ path, name }: MemoryPath, tree: FileTree): string {
  const base = path.endsWith("/") ? path.slice(0, -1) : path;
  const blocks = tree.below(name);
  const lines = [`${sizeOf(blocks)}\t${path}`];
  const collect = (directory: string, shown: string, inside: readonly Block[], level: number): void => {
    for (const { segment, file, below } of entriesIn(directory, inside)) {
      if (segment.startsWith(".") || segment === "node_modules") continue;
      const line = `${shown}/${segment}`;
      if (file) lines.push(`${sizeOf([file])}\t${line}`);
      if (below.length === 0) continue;
      lines.push(`${sizeOf(below)}\t${line}/`);
      if (level < LEVELS) collect(directory === "" ? segment : `${directory}/${segment}`, line, below, level + 1);
    }
  };
  collect(name, base, blocks, 1);
  if (name === "" && tree.hidden > 0) lines.push(`(omitted: ${tree.hidden} with a name that is not a valid path)`);
  const header = `Here're the files and directories up to ${LEVELS} levels deep in ${path}, excluding hidden items and node_modules:`;
  return [header, ...lines.map(rendered)].join("\n");
}

/** A file with numbered lines: all, or a range, which may end beyond the last line. */
export function fileView(path: string, content: string, range: readonly [number, number] | undefined): string {
  const lines = content.split("\n");
  const [first, last] = range ?? [1, -1];
  const from = Math.max(1, first);
  const to = last === -1 ? lines.length : last;
  if (from > lines.length || to < from) {
    throw new MemoryToolError(
      "invalid_input",
      `Invalid \`view_range\` parameter: [${first}, ${last}]. The file ${path} has ${lines.length} lines; use -1 as the last line for the end.`,
    );
  }
  return `Here's the content of ${path} with line numbers:\n${numbered(lines, from, to)}`;
}

/** The existing lines from `from` to `to`, counted from 1. */
export function numbered(lines: readonly string[], from: number, to: number): string {
  return lines
    .slice(from - 1, to)
    .map((line, index) => `${String(from + index).padStart(NUMBER_WIDTH)}\t${rendered(line.replace(/\r$/, ""))}`)
    .join("\n");
}

/** Size of the texts in UTF-8, in the largest fitting unit: 12B, 1.5K, 3M. */
function sizeOf(blocks: readonly Block[]): string {
  const bytes = blocks.reduce((sum, { content }) => sum + bytesOf(content), 0);
  const unit = bytes === 0 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const size = bytes / 1024 ** unit;
  return `${Number.isInteger(size) ? size : size.toFixed(1)}${UNITS[unit]}`;
}
