/** Completions: bash runs the script; zsh and fish parse theirs, if installed. */
import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { holdfast } from "./cli.js";
import { globalFlags, leaves } from "./tree.js";

const scriptFor = async (shell: string): Promise<string> => (await holdfast(["completion", shell])).out;

/** What bash offers for each of these lines; the last word is completed. */
async function offered(lines: readonly string[]): Promise<readonly (readonly string[])[]> {
  const asks = lines.map((line) => {
    const words = ["holdfast", ...line.split(" ").slice(1)].map((word) => `'${word}'`);
    return `COMP_WORDS=(${words.join(" ")}); COMP_CWORD=${words.length - 1}; _holdfast; echo "\${COMPREPLY[*]}"`;
  });
  const bash = spawnSync("bash", ["--norc"], {
    input: `${await scriptFor("bash")}\n${asks.join("\n")}\n`,
    encoding: "utf8",
  });
  expect(bash.stderr).toBe("");
  return bash.stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => line.split(" ").filter((word) => word !== ""));
}

describe("in bash", () => {
  it("commands, subcommands, flags and choices are completed, wherever other flags are", async () => {
    expect(
      await offered([
        "holdfast bl",
        "holdfast blocks e",
        "holdfast --path x.db blocks re",
        "holdfast add --ro",
        "holdfast add --role ",
        "holdfast add --role as",
        "holdfast add some text --se",
        "holdfast completion ",
        "holdfast key create --access ",
        "holdfast query -n ",
      ]),
    ).toEqual([
      ["blocks"],
      ["edit"],
      ["rename", "restore"],
      ["--role"],
      ["user", "assistant", "system", "tool"],
      ["assistant"],
      ["--session"],
      expect.arrayContaining(["bash", "zsh", "fish"]),
      ["read", "write", "admin"],
      [],
    ]);
  });

  it("files are completed where files are expected", async () => {
    const [files, imported, none] = await offered([
      "holdfast stats --path pack",
      "holdfast import pack",
      "holdfast add pack",
    ]);
    expect(files).toContain("package.json");
    expect(imported).toContain("package.json");
    expect(none).toEqual([]);
  });

  it("every command offers all its flags", async () => {
    const answers = await offered(leaves.map(({ name }) => `holdfast ${name} --`));
    for (const [at, { name, flags }] of leaves.entries()) {
      expect(answers[at], name).toEqual(expect.arrayContaining([...flags, ...globalFlags, "--help"]));
    }
  });
});

describe.each([
  ["zsh", "-n"],
  ["fish", "--no-execute"],
])("for %s", (shell, check) => {
  it("the script names every command and flag", async () => {
    const script = await scriptFor(shell);
    for (const { name, flags } of leaves) {
      for (const word of name.split(" ")) expect(script).toContain(word);
      for (const flag of flags) expect(script).toContain(shell === "fish" ? `-l ${flag.slice(2)}` : `'${flag}[`);
    }
  });

  const isInstalled = spawnSync(shell, ["--version"]).status === 0;
  it.runIf(isInstalled)("the script can be parsed by it", async () => {
    const read = spawnSync(shell, [check], { input: await scriptFor(shell), encoding: "utf8" });
    expect(read).toMatchObject({ status: 0, stderr: "" });
  });
});
