/** config/buffer/default.yaml: every option with its default, and nothing else. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { parse } from "yaml";
import type { KEYS as Keys, loadConfig as load } from "../../build/lib/config.js";
import { DEFAULT_CONFIG, defaultConfig } from "../../scripts/default-config.js";
import { root } from "../support/root.js";

const { KEYS, loadConfig } = (await import(pathToFileURL(join(root, "build/lib/config.js")).href)) as {
  readonly KEYS: typeof Keys;
  readonly loadConfig: typeof load;
};
const text = readFileSync(DEFAULT_CONFIG, "utf8");
const REGENERATE = "config/buffer/default.yaml is out of date: npm run build:config writes it anew";

/** Every key in the file with its value, those that are commented out included, as null. */
function keysIn(yaml: string): ReadonlyMap<string, unknown> {
  const leaves = (group: object, prefix: string): [string, unknown][] =>
    Object.entries(group).flatMap(([name, value]): [string, unknown][] =>
      typeof value === "object" && value !== null ? leaves(value, `${prefix}${name}.`) : [[prefix + name, value]],
    );
  return new Map(leaves(parse(yaml.replaceAll(/^( *)# (\w+:) #.*$/gm, "$1$2")) as object, ""));
}

it("the shipped configuration has every option, with its default and a comment", () => {
  const wanted = KEYS.flatMap(({ file, option }): [string, unknown][] =>
    option.codeOnly ? [] : [[file, option.fallback ?? null]],
  );
  expect([...keysIn(text)].sort(), REGENERATE).toEqual(wanted.sort());
  expect(text.match(/^ *# [A-Z0-9a-z].*\.$/gm)?.length, REGENERATE).toBeGreaterThanOrEqual(wanted.length);
  expect(text === defaultConfig(), REGENERATE).toBe(true);
});

it("the shipped configuration changes nothing as it is", () => {
  const code = { path: "memory.db" };
  expect(loadConfig({ file: DEFAULT_CONFIG, code })).toStrictEqual(loadConfig({ code }));
});
