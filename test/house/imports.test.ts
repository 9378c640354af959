/** The layers of the source: imports point one way, and no folder is a drawer for odds and ends. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../support/root.js";

/** From the ground up. A file may import from its own layer and from those below. */
const LAYERS: readonly (readonly string[])[] = [
  [
    "types.ts",
    "errors.ts",
    "clock.ts",
    "ids.ts",
    "text.ts",
    "graphemes.ts",
    "mutable.ts",
    "one-by-one.ts",
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
    "conversation/",
    "context/",
    "buffer-store/",
    "upkeep/",
  ],
  ["keeper.ts", "forgetting.ts", "reports.ts", "carried.ts", "service.ts"],
  ["registry.ts", "session.ts", "memory.ts"],
  ["transfer/", "metrics/", "graph/", "anthropic/"],
  ["index.ts"],
  ["schemas/"],
  ["client/"],
  ["mcp/"],
  ["server/"],
  ["cli/"],
];
/** For those who write stores and tests; it may use everything, and nothing may use it. */
const TESTING = "testing/";

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
  const text = readFileSync(path, "utf8");
  return [...text.matchAll(/(?:from|import\() ?"(\.[^"]+)"/g)].map(([, target = ""]) =>
    nameOf(join(dirname(path), target.replace(/\.js$/, ".ts"))),
  );
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

  it("has no drawer for odds and ends, and no file that is two nouns", () => {
    expect(files.map(nameOf).filter((name) => /(^|\/)(utils?|helpers?|common|interfaces)(\/|\.ts)/.test(name))).toEqual(
      [],
    );
    // The plain model of a store is one file on purpose: it is read from top to bottom.
    const library = files.filter((path) => !nameOf(path).startsWith(TESTING));
    const long = library.filter((path) => readFileSync(path, "utf8").split("\n").length > 400);
    expect(long.map(nameOf)).toEqual([]);
  });

  it("never re-exports by star", () => {
    expect(files.filter((path) => /export \* from/.test(readFileSync(path, "utf8"))).map(nameOf)).toEqual([]);
  });
});
