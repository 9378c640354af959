/**
 * Checks test/house/seeds.md: every row is either `not yet`, or names files and proofs that exist.
 *
 * The last two columns of a built row are lists of code spans, separated by commas. Where: `path`. Proof: `path` of a
 * test file, or `path › test name`; a suite in src/testing or test/session counts as a test file if the test is named.
 * A number is proven by a benchmark: `npm run bench:name › first cell`, where docs/benchmarks.md has a section with
 * that command under its heading and a table row that starts with that cell. Paths start at the repository's root.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

interface Row {
  readonly id: string;
  readonly cells: readonly string[];
  readonly where: string;
  readonly proof: string;
}

const HEADER = "| id | what the seed asks for | where (file) | proof (test) |";
const RULE = "|---|---|---|---|";
const SEEDS = ["M", "Z", "E", "C", "A"];

const root = repositoryRoot();

function repositoryRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "package.json"))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error("No folder above this test has a package.json.");
    folder = parent;
  }
  return folder;
}

function parse(markdown: string): Row[] {
  return markdown
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line.startsWith("|") && line !== HEADER && line !== RULE)
    .map((line) => {
      const cells = line
        .replace(/^\||(?<!\\)\|$/g, "")
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim().replaceAll("\\|", "|"));
      return { id: cells[0] ?? "", cells, where: cells[2] ?? "", proof: cells[3] ?? "" };
    });
}

/** The code spans of a cell; undefined if the cell contains anything besides code spans and commas, or nothing. */
function spans(cell: string): readonly string[] | undefined {
  if (!/^`[^`]+`(\s*,\s*`[^`]+`)*$/.test(cell)) return undefined;
  return [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? "");
}

function isFile(path: string): boolean {
  if (path.startsWith("/") || path.split("/").includes("..")) return false;
  return statSync(join(root, path), { throwIfNoEntry: false })?.isFile() ?? false;
}

/**
 * Whether the source defines a test of exactly this name: the first argument of a call that is neither a describe nor
 * commented out nor skipped.
 */
function hasTest(source: string, name: string): boolean {
  const quoted = [JSON.stringify(name), `'${name.replaceAll("'", "\\'")}'`, `\`${name}\``];
  return quoted.some((literal) => {
    for (let at = source.indexOf(literal); at >= 0; at = source.indexOf(literal, at + 1)) {
      const before = source.slice(0, at);
      const line = before.slice(before.lastIndexOf("\n") + 1);
      const called = /[\w)]\s*\(\s*$/.test(before);
      const dead = /\bdescribe(\.\w+)*\s*\(\s*$|\.(skip|todo)\s*\(\s*$/.test(before) || /^\s*(\/\/|\/?\*)/.test(line);
      if (called && !dead && /^\s*,/.test(source.slice(at + literal.length))) return true;
    }
    return false;
  });
}

function formFaults(rows: readonly Row[]): string[] {
  const seen = new Set<string>();
  return rows.flatMap(({ id, cells }) => {
    const faults: string[] = [];
    if (cells.length !== 4) faults.push(`${id}: ${cells.length} columns instead of 4`);
    if (cells.some((cell) => cell === "")) faults.push(`${id}: an empty column`);
    if (!/^[MZECA]-[a-z]+-[1-9]\d*$/.test(id)) faults.push(`${id}: not an id such as M-write-1`);
    if (seen.has(id)) faults.push(`${id}: used twice`);
    seen.add(id);
    return faults;
  });
}

function stateFaults(rows: readonly Row[]): string[] {
  return rows.flatMap(({ id, where, proof }) => {
    if (where === "not yet" && proof === "not yet") return [];
    if (`${where} ${proof}`.includes("not yet (")) return [`${id}: a temporary "not yet (…)" is still there`];
    if (spans(where) && spans(proof)) return [];
    return [`${id}: must be "not yet" twice, or name both files and proofs as code spans: ${where} | ${proof}`];
  });
}

function fileFaults(rows: readonly Row[]): string[] {
  return rows.flatMap(({ id, where }) =>
    (spans(where) ?? []).filter((path) => !isFile(path)).map((path) => `${id}: no file ${path}`),
  );
}

/** What is wrong with a benchmark that is named as a proof. */
function benchFault(command: string, name: string): string | undefined {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: object };
  if (!(command.replace("npm run ", "") in scripts)) return `package.json has no script for ${command}`;
  const sections = readFileSync(join(root, "docs/benchmarks.md"), "utf8").split(/^## /m);
  const section = sections.find((text) => new RegExp(`^[^\n]*\n\n\`${command}\\b`).test(text));
  if (section === undefined) return `docs/benchmarks.md has no section of ${command}`;
  const isRow = (line: string): boolean => line.startsWith(`| ${name} |`);
  return section.split("\n").some(isRow) ? undefined : `the section of ${command} has no row "${name}"`;
}

function proofFaults(rows: readonly Row[]): string[] {
  const fault = (proof: string): string | undefined => {
    const [path = "", ...rest] = proof.split(" › ");
    const name = rest.join(" › ");
    if (path.startsWith("npm run bench:")) return benchFault(path, name);
    const suite = /^(src\/testing|test\/session)\/.*\.ts$/.test(path) && name !== "";
    if (!isFile(path)) return `no file ${path}`;
    if (!path.endsWith(".test.ts") && !suite) return `${path} is not a test file`;
    if (name !== "" && !hasTest(readFileSync(join(root, path), "utf8"), name)) return `${path} has no test "${name}"`;
    return undefined;
  };
  return rows.flatMap(({ id, proof }) =>
    (spans(proof) ?? []).flatMap((one) => {
      const found = fault(one);
      return found === undefined ? [] : [`${id}: ${found}`];
    }),
  );
}

describe("the account of the seeds", () => {
  const rows = parse(readFileSync(join(root, "test/house/seeds.md"), "utf8"));

  it("has rows for every seed", () => {
    const present = new Set(rows.map((row) => row.id.charAt(0)));
    expect(SEEDS.filter((seed) => !present.has(seed))).toEqual([]);
  });

  it("has four filled columns and a unique id in every row", () => {
    expect(formFaults(rows)).toEqual([]);
  });

  it("has only rows that are wholly not yet or name both file and proof", () => {
    expect(stateFaults(rows)).toEqual([]);
  });

  it("names files that exist", () => {
    expect(fileFaults(rows)).toEqual([]);
  });

  it("names proofs that exist", () => {
    expect(proofFaults(rows)).toEqual([]);
  });
});

describe("the check of the account", () => {
  const here = "test/house/seeds.test.ts";
  const faults = (...lines: string[]) => {
    const rows = parse([HEADER, RULE, ...lines].join("\n"));
    return [...formFaults(rows), ...stateFaults(rows), ...fileFaults(rows), ...proofFaults(rows)];
  };

  it.each([
    "| M-a-1 | x | not yet | not yet |",
    `| M-a-1 | x | \`package.json\`, \`${here}\` | \`${here}\` |`,
    `| M-a-1 | x \\| y | \`package.json\` | \`${here} › names files that exist\`, \`${here}\` |`,
    "| M-a-1 | x | `package.json` | `npm run bench:write › one add at a time` |",
  ])("accepts %s", (line) => {
    expect(faults(line)).toEqual([]);
  });

  it.each([
    ["3 columns", "| M-a-1 | x | not yet |"],
    ["5 columns", "| M-a-1 | x | y | not yet | not yet |"],
    ["an empty column", "| M-a-1 |  | not yet | not yet |"],
    ["not an id", "| X-a-1 | x | not yet | not yet |"],
    ["temporary", "| M-a-1 | x | not yet (soon) | not yet (soon) |"],
    ["name both", "| M-a-1 | x | `package.json` | not yet |"],
    ["name both", `| M-a-1 | x | not yet | \`${here}\` |`],
    ["name both", `| M-a-1 | x | package.json | \`${here}\` |`],
    ["no file no/such.ts", `| M-a-1 | x | \`no/such.ts\` | \`${here}\` |`],
    ["no file src", `| M-a-1 | x | \`src\` | \`${here}\` |`],
    ["not a test file", "| M-a-1 | x | `package.json` | `package.json` |"],
    ["no file test/no-such.test.ts", "| M-a-1 | x | `package.json` | `test/no-such.test.ts` |"],
    ['no test "names files"', `| M-a-1 | x | \`package.json\` | \`${here} › names files\` |`],
    ['no test "the account of the seeds"', `| M-a-1 | x | \`package.json\` | \`${here} › the account of the seeds\` |`],
    ["no script for npm run bench:nothing", "| M-a-1 | x | `package.json` | `npm run bench:nothing › x` |"],
    ['no row "nonsense"', "| M-a-1 | x | `package.json` | `npm run bench:write › nonsense` |"],
    ['no row ""', "| M-a-1 | x | `package.json` | `npm run bench:write` |"],
  ])("finds %s in %s", (fault, line) => {
    expect(faults(line).join("\n")).toContain(fault);
  });

  it.each([
    ['it("adds", () => {});', true],
    ["it('adds', () => {});", true],
    ['it.each([1])(\n  "adds",\n  () => {});', true],
    ['it("adds two", () => {});', false],
    ['it.skip("adds", () => {});', false],
    ['it.todo("adds");', false],
    ['// it("adds", () => {});', false],
    ['describe("adds", () => {});', false],
    ['const verb = "adds";', false],
  ])("in %s sees a test named adds: %s", (source, seen) => {
    expect(hasTest(source, "adds")).toBe(seen);
  });

  it("refuses an id that is used twice", () => {
    const line = "| M-a-1 | x | not yet | not yet |";
    expect(faults(line, line)).toEqual(["M-a-1: used twice"]);
  });
});
