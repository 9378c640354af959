/** The layers of the source: imports point one way, and no folder is a catch-all. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../support/root.js";

/** From the bottom up. A file may import from its own layer and from those below. */
const LAYERS: readonly (readonly string[])[] = [
  [
    "types.ts",
    "actor.ts",
    "errors.ts",
    "back-off.ts",
    "clock.ts",
    "memory-pressure.ts",
    "ids.ts",
    "text.ts",
    "rendered.ts",
    "graphemes.ts",
    "folder.ts",
    "mutable.ts",
    "keyed-mutex.ts",
    "single-flight.ts",
    "space-key.ts",
    "plain-file.ts",
    "package-files.ts",
    "worker-thread.ts",
    "version.ts",
  ],
  ["tokens/"],
  ["retrieval/", "openai/"],
  ["stores/", "embedding/", "extraction/"],
  ["input/", "config.ts", "options.ts"],
  [
    "buffers/",
    "reindexing/",
    "events/",
    "blocks/",
    "keys/",
    "facts/",
    "points/",
    "conversation/",
    "context/",
    "upkeep/",
  ],
  ["stats.ts", "backlog.ts", "service-parts.ts", "housekeeping.ts", "forgetting.ts", "working-memory.ts", "service.ts"],
  ["registry.ts", "session.ts", "memory.ts"],
  ["transfer/", "metrics/"],
  ["schemas/"],
  ["calls/"],
  ["compat/"],
  ["index.ts", "client/"],
  ["mcp/"],
  ["server/"],
  ["cli/"],
];
/** For authors of stores and tests; it may use everything, and nothing may use it. */
const TESTING = "testing/";

const SQLITE = "stores/sqlite/";
/** From the ground up; the last one is the folder itself. */
const SQLITE_FOLDERS = ["file", "rows", "words", "embedding", "items", "records", "search", ""];

const source = join(root, "src");

function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sourceFiles(path);
    return entry.name.endsWith(".ts") && !entry.name.endsWith(".test.ts") ? [path] : [];
  });
}

const nameOf = (path: string): string => relative(source, path).split(sep).join("/");
const layerOf = (name: string): number =>
  LAYERS.findIndex((layer) => layer.some((part) => name === part || (part.endsWith("/") && name.startsWith(part))));

function importsOf(path: string): string[] {
  return importedBy(path, readFileSync(path, "utf8"));
}

function importedBy(path: string, text: string): string[] {
  return [...text.matchAll(/(?:from|import\() ?"(\.[^"]+)"/g)].map(([, target = ""]) =>
    nameOf(join(dirname(path), target.replace(/\.js$/, ".ts"))),
  );
}

/** Without type-only imports. */
function codeImportsOf(path: string): string[] {
  const text = readFileSync(path, "utf8").replaceAll(/^(import|export) type [^;]*;/gm, "");
  return importedBy(path, text);
}

describe("the source", () => {
  const files = sourceFiles(source);

  it("has files, each of them in a layer", () => {
    expect(files.length).toBeGreaterThan(40);
    const homeless = files.map(nameOf).filter((name) => !name.startsWith(TESTING) && layerOf(name) < 0);
    expect(homeless).toEqual([]);
  });

  it("imports only from its own layer and from those below", () => {
    const wrong = files.map(nameOf).flatMap((name) => {
      if (name.startsWith(TESTING)) return [];
      return importsOf(join(source, name))
        .filter((target) => target.startsWith(TESTING) || layerOf(target) > layerOf(name))
        .map((target) => `${name} → ${target}`);
    });
    expect(wrong).toEqual([]);
  });

  it("has no cycle between its folders", () => {
    const folderOf = (name: string): string => name.replace(/\/.*/, "/");
    const imports = new Map<string, Set<string>>();
    for (const name of files.map(nameOf).filter((file) => !file.startsWith(TESTING))) {
      const targets = imports.get(folderOf(name)) ?? new Set();
      imports.set(folderOf(name), targets);
      for (const target of importsOf(join(source, name))) targets.add(folderOf(target));
    }
    const cycles = [...imports.keys()].filter((folder) => {
      const reached = new Set([...(imports.get(folder) ?? [])].filter((target) => target !== folder));
      for (const next of reached) for (const target of imports.get(next) ?? []) reached.add(target);
      return reached.has(folder);
    });
    expect(cycles).toEqual([]);
  });

  it("has folders in the SQLite store that import only from those below", () => {
    const folderOf = (name: string): number => {
      const folder = name.startsWith(SQLITE) ? name.slice(SQLITE.length).split("/").slice(0, -1).join("/") : undefined;
      return folder === undefined ? -1 : SQLITE_FOLDERS.indexOf(folder);
    };
    const parts = files.map(nameOf).filter((name) => name.startsWith(SQLITE));
    expect(parts.filter((name) => folderOf(name) < 0)).toEqual([]);
    const wrong = parts.flatMap((name) => {
      const targets = importsOf(join(source, name)).filter((target) => folderOf(target) > folderOf(name));
      return targets.map((target) => `${name} → ${target}`);
    });
    expect(wrong).toEqual([]);
  });

  it("has four buffers, none of which runs code of another", () => {
    const buffers = ["WriteBuffer", "RoundBuffer", "HybridBuffer", "QueryBuffer"].map((name) => {
      const [path, ...others] = files.filter((file) => readFileSync(file, "utf8").includes(`export class ${name} `));
      expect([name, others]).toEqual([name, []]);
      return String(path && nameOf(path));
    });
    const reached = buffers.flatMap((buffer) => {
      const seen = new Set([buffer]);
      for (const name of seen) for (const target of codeImportsOf(join(source, name))) seen.add(target);
      return buffers.filter((other) => other !== buffer && seen.has(other)).map((other) => `${buffer} → ${other}`);
    });
    expect(reached).toEqual([]);
  });

  it("has no catch-all folder or file, and no file name of two nouns", () => {
    expect(files.map(nameOf).filter((name) => /(^|\/)(utils?|helpers?|common|interfaces)(\/|\.ts)/.test(name))).toEqual(
      [],
    );
    // The plain model of a store is one file on purpose: it is read from top to bottom.
    const library = files.filter((path) => !nameOf(path).startsWith(TESTING));
    const long = library.filter((path) => readFileSync(path, "utf8").split("\n").length > 400);
    expect(long.map(nameOf)).toEqual([]);
  });

  it("has a dashboard that knows the client and nothing else of it", () => {
    const folder = join(root, "ui/src");
    const modules = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name));
    expect(modules.length).toBeGreaterThan(20);
    for (const name of modules) {
      const text = readFileSync(join(folder, name), "utf8");
      const targets = [...text.matchAll(/(?:from|import) ?\(?"([^"]+)"/g)].map(([, target = ""]) => target);
      const inside = targets.filter((target) => target.startsWith(".")).map((target) => join(dirname(name), target));
      expect(
        inside.filter((target) => target.startsWith("..")),
        name,
      ).toEqual([]);
      expect(
        targets.filter((target) => /^(holdfast(?!\/client$)|node:)/.test(target)),
        name,
      ).toEqual([]);
      expect(text.split("\n").length, name).toBeLessThanOrEqual(400);
    }
  });

  it("never re-exports by star", () => {
    expect(files.filter((path) => /export \* from/.test(readFileSync(path, "utf8"))).map(nameOf)).toEqual([]);
  });
});
