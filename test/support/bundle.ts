/** What the published bundle loads: an entry point's chunks, the modules that they were made of, and what they import. */
import { readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { root } from "./root.js";

export interface Chunk {
  readonly code: string;
  /** Relative to the root of the repository: `src/ids.ts`. */
  readonly sources: readonly string[];
  /** Everything it imports that is no chunk. */
  readonly foreign: readonly string[];
}

const IMPORT = /\b(?:from|import)\s*\(?\s*"([\w@./:-]+)"/g;

/** The chunks that an entry point loads at once or later, by their path in dist/. */
export function chunksOf(entry: string): ReadonlyMap<string, Chunk> {
  const dist = join(root, "dist");
  const chunks = new Map<string, Chunk>();
  const waiting = [join(dist, entry)];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const name = relative(dist, path);
    if (chunks.has(name)) continue;
    const code = readFileSync(path, "utf8");
    const targets = [...code.matchAll(IMPORT)].map(([, target = ""]) => target);
    const foreign = targets.filter((target) => !target.startsWith("."));
    chunks.set(name, { code, sources: sourcesOf(path), foreign });
    for (const target of targets) if (target.startsWith(".")) waiting.push(join(dirname(path), target));
  }
  return chunks;
}

/** The modules that a chunk was made of. */
export function sourcesOf(chunk: string): readonly string[] {
  const { sources } = JSON.parse(readFileSync(`${chunk}.map`, "utf8")) as { readonly sources: readonly string[] };
  return sources.map((source) =>
    relative(root, join(dirname(chunk), source))
      .split(sep)
      .join("/"),
  );
}
