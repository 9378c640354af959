/**
 * The TypeScript of the pages as programs.
 *
 * The blocks of a page are one program, in their order: a later block uses what an earlier one declared. A block that
 * imports something its program already has begins the next program. A line `console.log(…); // text` must print that text.
 */
import type { Block, Page } from "./pages.js";

export interface Program {
  /** Such as `docs-recall-1`. */
  readonly name: string;
  /** The page and line of its first block. */
  readonly at: string;
  readonly code: string;
  readonly onlyChecked: boolean;
}

const LANGUAGES = new Set(["ts", "js"]);

export function programsOf(page: Page): readonly Program[] {
  const programs: { blocks: Block[]; imported: Set<string> }[] = [];
  for (const block of page.blocks) {
    if (!LANGUAGES.has(block.language) || block.notRun !== undefined) continue;
    const names = importsOf(block.code);
    let last = programs.at(-1);
    if (last === undefined || names.some((name) => last?.imported.has(name))) {
      last = { blocks: [], imported: new Set() };
      programs.push(last);
    }
    last.blocks.push(block);
    for (const name of names) last.imported.add(name);
  }
  return programs.map(({ blocks }, index) => ({
    name: `${page.path.replace(/\.md$/, "").replaceAll(/\W+/g, "-")}-${index + 1}`,
    at: blocks[0]?.at ?? page.path,
    code: blocks.map(({ at, code }) => `// ${at}\n${code}`).join("\n"),
    onlyChecked: blocks.some(({ onlyChecked }) => onlyChecked !== undefined),
  }));
}

function importsOf(code: string): readonly string[] {
  const lists = [...code.matchAll(/^import (?:type )?\{([^}]*)\} from/gm)].map(([, list = ""]) => list);
  return lists.flatMap((list) => list.split(",").map((name) => name.replace(/^\s*type\s/, "").trim()));
}

/** The same code, with each `console.log` that names its output turned into a comparison with it. */
export const comparing = (code: string): string =>
  code.replaceAll(
    /^(\s*(?:for \(.*\) )?)console\.log\((.*)\); \/\/ (.*)$/gm,
    (_, before: string, values: string, text: string) => `${before}shows(${JSON.stringify(text)}, ${values});`,
  );
