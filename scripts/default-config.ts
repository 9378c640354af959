/**
 * Writes config/buffer/default.yaml: every option that a file may set, with its default and the first sentence of its
 * comment in src/options.ts. `npm run build:config` runs it; test/house/default-config.test.ts checks the file.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { argv } from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { stringify } from "yaml";
import type { KEYS as Keys } from "../build/lib/config.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const { KEYS } = (await import(pathToFileURL(join(root, "build/lib/config.js")).href)) as {
  readonly KEYS: typeof Keys;
};

export const DEFAULT_CONFIG = join(root, "config/buffer/default.yaml");

const HEAD = `# Every option, with its default. This file changes nothing as it is: copy it, keep the lines that you change, and name it
# with --config, HOLDFAST_CONFIG or openMemory({ config }). Options without a default are commented out.
# Generated from src/options.ts by npm run build:config.
`;

/** The text of the file. */
export function defaultConfig(): string {
  const comments = commentsIn(readFileSync(join(root, "src/options.ts"), "utf8"));
  const lines = [HEAD.trimEnd()];
  let open: readonly string[] = [];
  for (const { code, file, option } of KEYS) {
    if (option.codeOnly) continue;
    const comment = comments.get(code);
    if (comment === undefined) throw new Error(`src/options.ts has no comment on ${code}`);
    const groups = file.split(".");
    const name = groups.pop() ?? "";
    const known = groups.findIndex((group, at) => group !== open[at]);
    for (let depth = known < 0 ? groups.length : known; depth < groups.length; depth++) {
      if (depth === 0) lines.push("");
      lines.push(`${"  ".repeat(depth)}${groups[depth]}:`);
    }
    open = groups;
    const { fallback, expected } = option;
    const choices = expected.startsWith("one of ") ? ` # ${expected}` : "";
    const value =
      fallback === undefined ? `# ${name}: # ${expected}` : stringify({ [name]: fallback }).trimEnd() + choices;
    lines.push(...[`# ${comment}`, value].map((line) => "  ".repeat(groups.length) + line));
  }
  return `${lines.join("\n")}\n`;
}

/** The first sentence of each option's comment, by the option's key in code. */
function commentsIn(source: string): ReadonlyMap<string, string> {
  const table = source.slice(source.indexOf("export const OPTIONS = {"), source.indexOf("\n} as const;"));
  const comments = new Map<string, string>();
  const groups: string[] = [];
  let comment = "";
  for (const line of table.split("\n").slice(1)) {
    const [, opened] = /^ +(\w+): \{$/.exec(line) ?? [];
    const [, key] = /^ +(\w+): \w+[(<]/.exec(line) ?? [];
    const [, text] = /^ +\/?\*+\/?(.*?)(?:\*\/)?$/.exec(line) ?? [];
    if (text !== undefined) comment = `${line.includes("/**") ? "" : comment} ${text.trim()}`.trim();
    if (opened !== undefined) groups.push(opened);
    if (/^ +\},?$/.test(line)) groups.pop();
    if (key !== undefined && comment !== "") comments.set([...groups, key].join("."), inFile(firstSentence(comment)));
    if (key !== undefined || opened !== undefined) comment = "";
  }
  return comments;
}

/** Options in comments are spelt as in the file. */
const inFile = (text: string): string =>
  text.replace(/`[\w.]+`/g, (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));

const firstSentence = (text: string): string => /^.*?[.:](?= [A-Z`]|$)/.exec(text)?.[0].replace(/:$/, ".") ?? text;

if (argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(dirname(DEFAULT_CONFIG), { recursive: true });
  writeFileSync(DEFAULT_CONFIG, defaultConfig());
}
