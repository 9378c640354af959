/** What users get: the packed package, installed into an empty folder, runs the README's ten lines. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { root } from "../support/root.js";

const QUIET = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

/** The first block of TypeScript in the README. */
function tenLines(): string {
  const block = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(root, "README.md"), "utf8"));
  return block?.[1] ?? "";
}

function npm(args: readonly string[], cwd: string): string {
  return execFileSync("npm", args, { cwd, encoding: "utf8", timeout: 300_000 });
}

describe("the package", () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-package-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const [packed] = JSON.parse(npm(["pack", "--json", ...QUIET, "--pack-destination", folder], root)) as Packed[];
  const paths = packed?.files.map(({ path }) => path) ?? [];

  it("holds the compiled library and its papers, and nothing of the workshop", () => {
    expect(paths).toEqual(
      expect.arrayContaining(["dist/index.js", "dist/index.d.ts", "LICENSE", "README.md", "package.json"]),
    );
    expect(paths).toContain("dist/stores/sqlite/worker.js");
    expect(paths.filter((path) => /\.test\.|^(src|test|bench|build|scripts|docs)\//.test(path))).toEqual([]);
  });

  it("runs the README's ten lines in an empty folder", { timeout: 600_000 }, () => {
    const code = tenLines();
    const lines = code.split("\n").filter((line) => line.trim() !== "");
    expect(lines.length).toBeGreaterThanOrEqual(8);
    expect(lines.length).toBeLessThanOrEqual(12);
    writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
    npm(["install", ...QUIET, "--prefer-offline", join(folder, packed?.filename ?? "")], folder);
    writeFileSync(join(folder, "ten.js"), code);
    const output = execFileSync(process.execPath, ["ten.js"], { cwd: folder, encoding: "utf8", timeout: 60_000 });
    expect(output).toContain("I moved to Lisbon in May.");
    // The same lines as strict TypeScript, against the packed declarations.
    writeFileSync(join(folder, "ten.ts"), code);
    const options = {
      target: "ES2023",
      module: "NodeNext",
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      types: [],
    };
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions: { ...options, lib: ["ES2023", "DOM"] }, files: ["ten.ts"] }),
    );
    execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", folder], { stdio: "pipe" });
  });
});
