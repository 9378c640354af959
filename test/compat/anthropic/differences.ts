/** Where Holdfast's memory tool deliberately differs from the Anthropic SDK's: one example each, with the reason. */
import type { MemoryCommand } from "holdfast/anthropic";

export interface Difference {
  readonly what: string;
  readonly reason: string;
  readonly before: readonly MemoryCommand[];
  readonly command: MemoryCommand;
  readonly ours: RegExp;
  readonly reference: RegExp;
}

const file = (path: string, file_text: string): MemoryCommand => ({ command: "create", path, file_text });
const replace = (old_str: string, new_str: string): MemoryCommand => ({
  ...{ command: "str_replace", path: "/memories/f", old_str, new_str },
});
const view = (path: string, ...view_range: number[]): MemoryCommand => ({
  ...{ command: "view", path },
  ...(view_range.length > 0 && { view_range }),
});

/** The operating system's message, including the path on this computer. */
export const SYSTEM_ERROR = /^Error: E[A-Z]+: /;

export const DIFFERENCES: readonly Difference[] = [
  {
    what: "text to replace that spans lines",
    reason: "the reference looks into single lines, so a model cannot join or remove lines",
    before: [file("/memories/f", "a\nb\nc")],
    command: replace("a\nb", "ab"),
    ours: /edited.*\n {5}1\tab\n {5}2\tc$/s,
    reference: /did not appear verbatim/,
  },
  {
    what: "text to replace that is twice in one line",
    reason: "the reference counts lines and changes the first occurrence, which may be the wrong one",
    before: [file("/memories/f", "no, no")],
    command: replace("no", "yes"),
    ours: /^Error: No replacement was performed\. Multiple occurrences of old_str `no` in lines: 1\./,
    reference: /1\tyes, no$/,
  },
  {
    what: "empty text to replace",
    reason: "it is everywhere; the reference takes it for the top of a file of one line",
    before: [file("/memories/f", "a")],
    command: replace("", "x"),
    ours: /^Error: `old_str` is empty/,
    reference: /1\txa$/,
  },
  {
    what: "more than twenty lines to choose from",
    reason: "a list of thousands of numbers would fill the model's window",
    before: [file("/memories/f", "a\n".repeat(21))],
    command: replace("a", "x"),
    ours: /19, 20 and more\. Please ensure it is unique$/,
    reference: /19, 20, 21\. Please ensure it is unique$/,
  },
  {
    what: "long text that is not found",
    reason: "what the model wrote is repeated to 1,000 characters",
    before: [file("/memories/f", "a")],
    command: replace("b".repeat(2_000), "x"),
    ours: /`b{1000}…` did not appear/,
    reference: /`b{2000}` did not appear/,
  },
  {
    what: "a range beyond the file's end",
    reason: "an empty answer looks like an empty file",
    before: [file("/memories/f", "a")],
    command: view("/memories/f", 5, 9),
    ours: /^Error: Invalid `view_range` parameter: \[5, 9\]\. The file \/memories\/f has 1 lines/,
    reference: /with line numbers:\n$/,
  },
  {
    what: "a range that counts from the end",
    reason: "only -1 is defined; what the reference does with others is what Array.slice does",
    before: [file("/memories/f", "a\nb\nc")],
    command: view("/memories/f", 1, -2),
    ours: /^Error: Invalid `view_range`/,
    reference: /1\ta$/,
  },
  {
    what: "characters that cannot be seen",
    reason: "a direction control or a tag makes a reader see another text than the model",
    before: [file("/memories/f", "a\u202eb\u200b")],
    command: view("/memories/f"),
    ours: /1\tab$/,
    reference: /1\ta\u202eb\u200b$/,
  },
  {
    what: "a range of one number",
    reason: "the reference shows the whole file",
    before: [file("/memories/f", "a")],
    command: view("/memories/f", 1),
    ours: /^Error: Invalid `view_range`/,
    reference: /1\ta$/,
  },
  {
    what: "a line that is no whole number",
    reason: "the reference rounds it down",
    before: [file("/memories/f", "a\nb")],
    command: { command: "insert", path: "/memories/f", insert_line: 1.5, insert_text: "x" },
    ours: /^Error: Invalid `insert_line` parameter: 1\.5/,
    reference: /has been edited/,
  },
  {
    what: "a path that only begins like the root",
    reason: "the reference takes /memoriesX for /memories/X",
    before: [],
    command: file("/memoriesX", "a"),
    ours: /^Error: Path must start with \/memories, got: \/memoriesX$/,
    reference: /^File created/,
  },
  {
    what: "a path with .. that stays inside",
    reason: "one file has one path; nothing is resolved",
    before: [file("/memories/f", "a")],
    command: view("/memories/d/../f"),
    ours: /^Error: Path .* would escape \/memories directory$/,
    reference: /1\ta$/,
  },
  {
    what: "a path with an empty part",
    reason: "one file has one path",
    before: [file("/memories/f", "a")],
    command: view("/memories//f"),
    ours: /^Error: Path \/memories\/\/f is not valid/,
    reference: /1\ta$/,
  },
  {
    what: "a path with encoded dots",
    reason: "a URL would resolve them; they are no names for files",
    before: [],
    command: file("/memories/%2e%2e/f", "a"),
    ours: /^Error: Path .* is not valid/,
    reference: /^File created/,
  },
  {
    what: "a path with a backslash",
    reason: "it is a separator elsewhere",
    before: [],
    command: file("/memories/..\\f", "a"),
    ours: /^Error: Path .* is not valid/,
    reference: /^File created/,
  },
  {
    what: "a path with a line break",
    reason: "it would forge a line of the listing",
    before: [],
    command: file("/memories/f\n4K\t/memories/g", "a"),
    ours: /^Error: Path \/memories\/f\\u000a4K\\u0009\/memories\/g is not valid/,
    reference: /^File created/,
  },
  {
    what: "a path with NUL",
    reason: "our words instead of the runtime's",
    before: [],
    command: file("/memories/f\u0000", "a"),
    ours: /^Error: Path \/memories\/f\\u0000 is not valid/,
    reference: /null bytes/,
  },
  {
    what: "a slash at the end of a file's path",
    reason: "a slash means a directory, so a model that wants one is told that it needs none",
    before: [],
    command: file("/memories/projects/", ""),
    ours: /^Error: Path \/memories\/projects\/ is a directory\. Directories need not be created/,
    reference: /^File created/,
  },
  {
    what: "a slash at the end of a directory's path",
    reason: "paths in the listing can be used as they stand",
    before: [file("/memories/d/f", "a")],
    command: view("/memories/d/"),
    ours: /\n1B\t\/memories\/d\/\n1B\t\/memories\/d\/f$/,
    reference: /\/memories\/d\/\n1B\t\/memories\/d\/\/f$/,
  },
  {
    what: "a file below a file",
    reason: "our words instead of the operating system's, which name a path on the computer",
    before: [file("/memories/f", "a")],
    command: file("/memories/f/g", "b"),
    ours: /^Error: \/memories\/f is a file, not a directory\. Use another path\.$/,
    reference: SYSTEM_ERROR,
  },
  {
    what: "a directory moved into itself",
    reason: "our words instead of the operating system's",
    before: [file("/memories/d/f", "a")],
    command: { command: "rename", old_path: "/memories/d", new_path: "/memories/d/e" },
    ours: /^Error: Cannot move \/memories\/d into itself$/,
    reference: SYSTEM_ERROR,
  },
];
