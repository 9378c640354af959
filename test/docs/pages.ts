/** The pages that people read, with their code blocks, links and anchors. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "../support/root.js";

/** The site's own function, so that an anchor that passes here works there. */
const { slug } = (await import(pathToFileURL(join(root, "website/.vitepress/slug.mjs")).href)) as {
  readonly slug: (heading: string) => string;
};

/** A fenced code block. */
export interface Block {
  /** The page and the line of the fence, to find it again. */
  readonly at: string;
  readonly language: string;
  readonly code: string;
  /** Why the block is not run: from a comment `<!-- not run: … -->` before it. */
  readonly notRun?: string;
  /** Why the block is type-checked but not run: from a comment `<!-- only type-checked: … -->` before it. */
  readonly onlyChecked?: string;
}

export interface Page {
  /** Relative to the root, such as `docs/recall.md`. */
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly Block[];
}

export interface Link {
  readonly target: string;
  /** The file it points to, relative to the root. */
  readonly file: string;
  readonly anchor: string | undefined;
}

const AT_ROOT = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"];

export function readPages(): readonly Page[] {
  const inside = (folder: string): string[] =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md") && !name.includes("node_modules"))
      .map((name) => join(folder, name));
  return [...AT_ROOT, ...inside("docs").sort(), ...inside("examples")].map((path) => {
    const text = readFileSync(join(root, path), "utf8");
    return { path, text, blocks: [...blocksOf(path, text)] };
  });
}

function* blocksOf(path: string, text: string): Iterable<Block> {
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; at++) {
    const opening = /^( *)```(\S*)/.exec(lines[at] ?? "");
    if (!opening) continue;
    const end = lines.findIndex((line, index) => index > at && /^ *```\s*$/.test(line));
    if (end < 0) throw new Error(`${path}:${at + 1}: the block is not closed`);
    const before = lines[at - 1] ?? "";
    const reason = (kind: string): string | undefined => new RegExp(`^<!-- ${kind}: (.+) -->$`).exec(before)?.[1];
    const notRun = reason("not run");
    const onlyChecked = reason("only type-checked");
    yield {
      at: `${path}:${at + 1}`,
      language: opening[2] ?? "",
      code: `${lines.slice(at + 1, end).join("\n")}\n`,
      ...(notRun !== undefined && { notRun }),
      ...(onlyChecked !== undefined && { onlyChecked }),
    };
    at = end;
  }
}

/** The links and images of a page that point to files of the project. */
export function linksOf({ path, text }: Page): readonly Link[] {
  const prose = text.replaceAll(/^ *```[\s\S]*?^ *```/gm, "").replaceAll(/`[^`\n]*`/g, "");
  const targets = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [file = "", anchor] = target.split("#");
      const absolute = file === "" ? join(root, path) : resolve(root, dirname(path), file);
      return { target, file: relative(root, absolute), anchor };
    });
}

/** The anchors of a page's headings, as GitHub and the site make them. */
export function anchorsOf({ text }: Page): ReadonlySet<string> {
  const headings = text.replaceAll(/^ *```[\s\S]*?^ *```/gm, "").matchAll(/^#+ (.+)$/gm);
  return new Set([...headings].map(([, heading = ""]) => slug(heading)));
}
