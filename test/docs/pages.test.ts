/** README and docs: every link leads somewhere, the README stays short, every option is documented. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../support/root.js";
import { anchorsOf, linksOf, readPages } from "./pages.js";

const pages = readPages();
const anchors = new Map(pages.map((page) => [page.path, anchorsOf(page)]));

it("every relative link leads to a file, and every anchor to a heading", () => {
  const dead = pages.flatMap((page) =>
    linksOf(page)
      .filter(({ file, anchor }) => {
        if (!existsSync(join(root, file))) return true;
        return anchor !== undefined && anchors.get(file)?.has(anchor) !== true;
      })
      .map(({ target }) => `${page.path}: ${target}`),
  );
  expect(dead).toEqual([]);
  expect(pages.flatMap(linksOf).length).toBeGreaterThan(80);
});

it("every page of the guide is linked in the README", () => {
  const readme = pages.find(({ path }) => path === "README.md");
  const linked = new Set(readme && linksOf(readme).map(({ file }) => file));
  const guide = pages.map(({ path }) => path).filter((path) => /^docs\/[^/]+\.md$/.test(path));
  expect(guide.filter((path) => !linked.has(path))).toEqual([]);
});

it("the README has at most 900 words", () => {
  const words = readFileSync(join(root, "README.md"), "utf8").split(/\s+/).filter(Boolean);
  expect(words.length).toBeLessThanOrEqual(900);
});

it("every option is in docs/configuration.md or, for the server, in docs/http.md", () => {
  const rows = (path: string): string =>
    (pages.find((page) => page.path === path)?.text ?? "")
      .split("\n")
      .filter((line) => line.startsWith("| `"))
      .map((line) => {
        const [first = "", ...rest] = [...(line.split(" | ")[0] ?? "").matchAll(/`([^`]+)`/g)].map(([, name]) => name);
        const group = first.slice(0, first.lastIndexOf("."));
        return [first, ...rest.map((name) => `${group}.${name}`)].join(" ");
      })
      .join(" ");
  const documented = new Set(`${rows("docs/configuration.md")} ${rows("docs/http.md")}`.split(" "));
  const text = readFileSync(join(root, "config/buffer/default.yaml"), "utf8");
  const groups: string[] = [];
  const keys = text.split("\n").flatMap((line) => {
    const [, indent = "", name = "", value = ""] = /^( *)(?:# (?=\w+: #))?([a-z_]+):(.*)$/.exec(line) ?? [];
    if (name === "") return [];
    groups.length = indent.length / 2;
    groups.push(name);
    return value === "" ? [] : [groups.join(".")];
  });
  expect(keys.length).toBeGreaterThan(40);
  expect(keys.filter((key) => !documented.has(key))).toEqual([]);
});
