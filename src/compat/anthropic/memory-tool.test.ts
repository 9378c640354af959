/** The memory tool's six commands on blocks: what the model sees, what is written, and the errors. */
import type { MemoryToolHandlers } from "@anthropic-ai/sdk/helpers/beta/memory";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Blocks } from "../../blocks/session-blocks.js";
import { HoldfastError } from "../../errors.js";
import { type Memory, openMemory } from "../../memory.js";
import type { Session } from "../../session.js";
import { type MemoryCommand, type MemoryTool, memoryTool } from "./index.js";

const HEADER = (path: string) =>
  `Here're the files and directories up to 2 levels deep in ${path}, excluding hidden items and node_modules:`;

let memory: Memory;
let users = 0;

beforeAll(async () => {
  memory = await openMemory({ path: ":memory:", buffer: { hybridBuffer: { embeddingModel: "none" } } });
});
afterAll(async () => void (await memory.close()));

const newSession = (): Session => memory.session({ user: `user ${++users}`, agent: "claude" });

async function withFiles(files: { readonly [name: string]: string }): Promise<{ session: Session; tool: MemoryTool }> {
  const session = newSession();
  for (const [name, content] of Object.entries(files)) await session.blocks.create({ name, content });
  return { session, tool: memoryTool(session) };
}

const view = (path: string, ...range: number[]): MemoryCommand => ({
  ...{ command: "view", path },
  ...(range.length > 0 && { view_range: range }),
});
const create = (path: string, file_text: string): MemoryCommand => ({ command: "create", path, file_text });
const replace = (path: string, old_str: string, new_str: string): MemoryCommand => ({
  ...{ command: "str_replace", path, old_str, new_str },
});
const insert = (path: string, insert_line: number, insert_text: string): MemoryCommand => ({
  ...{ command: "insert", path, insert_line, insert_text },
});
const remove = (path: string): MemoryCommand => ({ command: "delete", path });
const rename = (old_path: string, new_path: string): MemoryCommand => ({ command: "rename", old_path, new_path });

/** Blocks with one method replaced. */
const blocksWith = (blocks: Blocks, changed: Partial<Blocks>): { readonly blocks: Blocks } => ({
  blocks: new Proxy(blocks, {
    get: (target, key) => {
      const own = Reflect.get(changed, key) ?? Reflect.get(target, key);
      return typeof own === "function" ? own.bind(target) : own;
    },
  }),
});

describe("the view of a directory", () => {
  it("that is empty has the root alone", async () => {
    const { tool } = await withFiles({});
    expect(await tool.execute(view("/memories"))).toBe(`${HEADER("/memories")}\n0B\t/memories`);
    expect(await tool.execute(view("/memories/"))).toBe(`${HEADER("/memories/")}\n0B\t/memories/`);
  });

  it("goes two levels deep, by name, with the size of all that is below", async () => {
    const { tool } = await withFiles({
      persona: "é",
      empty: "",
      "projects/a.md": "x".repeat(1536),
      "projects/deep/er/est.md": "y".repeat(512),
      "projects/deep/b": "z".repeat(1024),
      ".secret/a": "hidden",
      "node_modules/a": "hidden",
      "projects/.draft": "h",
      B: "b",
    });
    expect(await tool.execute(view("/memories"))).toBe(
      [
        HEADER("/memories"),
        "3.0K\t/memories",
        "1B\t/memories/B",
        "0B\t/memories/empty",
        "2B\t/memories/persona",
        "3.0K\t/memories/projects/",
        "1.5K\t/memories/projects/a.md",
        "1.5K\t/memories/projects/deep/",
      ].join("\n"),
    );
    const inside = ["1.5K\t/memories/projects/deep", "1K\t/memories/projects/deep/b"];
    const more = ["512B\t/memories/projects/deep/er/", "512B\t/memories/projects/deep/er/est.md"];
    expect(await tool.execute(view("/memories/projects/deep"))).toBe(
      [HEADER("/memories/projects/deep"), ...inside, ...more].join("\n"),
    );
    expect(await tool.execute(view("/memories/.secret"))).toContain("6B\t/memories/.secret/a");
  });

  it("counts blocks that have no path, and none of them is reached by another", async () => {
    const names = ["a//b", "..", "../etc", "/abs", "a/", ".", "a\\b", "new\nline\n9K\t/memories/forged", "%2e%2e", "x"];
    const { session, tool } = await withFiles(Object.fromEntries(names.map((name) => [name, "text"])));
    const shown = `${HEADER("/memories")}\n4B\t/memories\n4B\t/memories/x\n(omitted: 9 with a name that is not a valid path)`;
    expect(await tool.execute(view("/memories"))).toBe(shown);
    for (const name of names.slice(0, -1)) {
      expect(await tool.execute(view(`/memories/${name}`))).toMatch(/^Error: /);
      expect(await tool.execute(remove(`/memories/${name}`))).toMatch(/^Error: /);
    }
    expect(await tool.execute(view("/memories/a"))).toMatch(/does not exist/);
    expect(await session.blocks.list()).toHaveLength(names.length);
  });

  it("distinguishes a file from the directory of the same name by the trailing slash", async () => {
    const { session, tool } = await withFiles({ a: "file\n", "a/b": "inner", "a/c": "" });
    const lines = ["10B\t/memories", "5B\t/memories/a", "5B\t/memories/a/", "5B\t/memories/a/b", "0B\t/memories/a/c"];
    expect(await tool.execute(view("/memories"))).toBe([HEADER("/memories"), ...lines].join("\n"));
    expect(await tool.execute(view("/memories/a"))).toContain("     1\tfile");
    expect(await tool.execute(view("/memories/a/"))).toBe(
      `${HEADER("/memories/a/")}\n5B\t/memories/a/\n5B\t/memories/a/b\n0B\t/memories/a/c`,
    );
    expect(await tool.execute(rename("/memories/a/", "/memories/z/"))).toMatch(/^Successfully/);
    expect((await session.blocks.list()).map(({ name }) => name)).toEqual(["a", "z/b", "z/c"]);
    await session.blocks.create({ name: "a/d" });
    expect(await tool.execute(remove("/memories/a"))).toBe("Successfully deleted /memories/a");
    expect((await session.blocks.list()).map(({ name }) => name)).toEqual(["a/d", "z/b", "z/c"]);
  });
});

describe("a file", () => {
  it("is not found by the path of a directory", async () => {
    const { session, tool } = await withFiles({ f: "x" });
    const missing = "Error: The path /memories/f/ does not exist. Please provide a valid path.";
    expect(await tool.execute(view("/memories/f/"))).toBe(missing);
    expect(await tool.execute(replace("/memories/f/", "x", "y"))).toBe(missing);
    expect(await tool.execute(remove("/memories/f/"))).toBe("Error: The path /memories/f/ does not exist");
    expect(await tool.execute(rename("/memories/f/", "/memories/g"))).toBe(
      "Error: The path /memories/f/ does not exist",
    );
    expect(await session.blocks.list()).toMatchObject([{ name: "f", version: 1 }]);
  });
});

describe("the view of a file", () => {
  it("numbers its lines, all or those of a range", async () => {
    const { tool } = await withFiles({ f: "one\ntwo\n\tthree\n" });
    const header = "Here's the content of /memories/f with line numbers:";
    const all = ["     1\tone", "     2\ttwo", "     3\t\tthree", "     4\t"];
    const shown = (from: number, to: number) => [header, ...all.slice(from, to)].join("\n");
    expect(await tool.execute(view("/memories/f"))).toBe(shown(0, 4));
    expect(await tool.execute(view("/memories/f", 2, 3))).toBe(shown(1, 3));
    expect(await tool.execute(view("/memories/f", 2, -1))).toBe(shown(1, 4));
    expect(await tool.execute(view("/memories/f", 0, 1))).toBe(shown(0, 1));
    expect(await tool.execute(view("/memories/f", 4, 99))).toBe(shown(3, 4));
  });

  it.each([
    [5, 6],
    [3, 2],
    [1, 0],
    [1, -2],
  ])("refuses the range [%i, %i] and says how long the file is", async (...range) => {
    const { tool } = await withFiles({ f: "one\ntwo\n\tthree\n" });
    expect(await tool.execute(view("/memories/f", ...range))).toBe(
      `Error: Invalid \`view_range\` parameter: [${range.join(", ")}]. The file /memories/f has 4 lines; use -1 as the last line for the end.`,
    );
  });

  it("has at most as many lines as a block, so that all can be numbered", async () => {
    const { tool } = await withFiles({ f: "\n".repeat(99_998) });
    expect(await tool.execute(view("/memories/f", -5, 1))).toContain("\n     1\t");
    expect(await tool.execute(create("/memories/g", "\n".repeat(100_000)))).toMatch(
      /^Error: The file .* would exceed what one file can hold/,
    );
  });
});

describe("an edit", () => {
  it("is one version each, with the command as its reason and the scope's agent as its actor", async () => {
    const { session, tool } = await withFiles({});
    await tool.execute(create("/memories/notes.md", "a\nb\n"));
    await tool.execute(replace("/memories/notes.md", "b", "B"));
    await tool.execute(insert("/memories/notes.md", 0, "top\n"));
    await tool.execute(rename("/memories/notes.md", "/memories/old/notes.md"));
    expect(await session.blocks.history("old/notes.md")).toMatchObject([
      { version: 4, reason: "memory tool: rename", formerName: "notes.md", actor: "agent claude" },
      { version: 3, reason: "memory tool: insert", old: "a\nB\n", new: "top\na\nB\n" },
      { version: 2, reason: "memory tool: str_replace", old: "a\nb\n", new: "a\nB\n" },
    ]);
    const other = memoryTool(session, { reason: "night shift" });
    await other.execute(replace("/memories/old/notes.md", "B", "C"));
    expect((await session.blocks.history("old/notes.md"))[0]).toMatchObject({ reason: "night shift: str_replace" });
  });

  it("replaces text that spans lines, and shows where", async () => {
    const { session, tool } = await withFiles({ f: "1\n2\n3\n4\n5\n6\n7" });
    expect(await tool.execute(replace("/memories/f", "4\n5", "four $& $1"))).toBe(
      "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n" +
        "     2\t2\n     3\t3\n     4\tfour $& $1\n     5\t6\n     6\t7",
    );
    expect((await session.blocks.get("f"))?.content).toBe("1\n2\n3\nfour $& $1\n6\n7");
  });

  it.each([
    ["x\nx\ny", "x", "1, 2"],
    ["a a", "a", "1"],
    ["b\naaa", "aa", "2"],
    ["a\na\na\n", "a\na", "1, 2"],
    ["\n\n\n", "\n", "1, 2, 3"],
    ["o o o o\no\n\no o o", "o", "1, 2, 4"],
    ["o o\n".repeat(20), "o", Array.from({ length: 20 }, (_, at) => at + 1).join(", ")],
    ["o o\n".repeat(21), "o", `${Array.from({ length: 20 }, (_, at) => at + 1).join(", ")} and more`],
    ["a".repeat(2_000_000), "a".repeat(1_000), "1"],
    ["k\n".repeat(30), "k", `${Array.from({ length: 20 }, (_, at) => at + 1).join(", ")} and more`],
  ])("of an ambiguous text (%#) is refused with the matching lines", async (content, old, lines) => {
    const { session, tool } = await withFiles({ f: content });
    expect(await tool.execute(replace("/memories/f", old, "new"))).toBe(
      `Error: No replacement was performed. Multiple occurrences of old_str \`${old}\` in lines: ${lines}. Please ensure it is unique`,
    );
    expect(await session.blocks.get("f")).toMatchObject({ content, version: 1 });
  });

  it("looks for text as it is stored: what cannot be stored was replaced in both", async () => {
    const { tool } = await withFiles({});
    await tool.execute(create("/memories/f", "half \ud83d and \u0000"));
    expect(await tool.execute(replace("/memories/f", "half \ud83d and \u0000", "whole"))).toContain("     1\twhole");
  });

  it("of missing text quotes only as much of it as is needed", async () => {
    const { tool } = await withFiles({ f: "x" });
    expect(await tool.execute(replace("/memories/f", "y", "z"))).toBe(
      "Error: No replacement was performed, old_str `y` did not appear verbatim in /memories/f.",
    );
    expect((await tool.execute(replace("/memories/f", "👍".repeat(100_000), "z"))).length).toBeLessThan(1_200);
    expect(await tool.execute(replace("/memories/f", "", "z"))).toMatch(/^Error: `old_str` is empty\./);
  });

  it.each([
    ["", 0, "a", "a\n"],
    ["", 1, "a", "\na"],
    ["x", 1, "a\n", "x\na"],
    ["x\ny\n", 1, "a\n\n", "x\na\n\ny\n"],
    ["x\ny\n", 2, "", "x\ny\n\n"],
    ["x\ny\n", 3, "a", "x\ny\n\na"],
  ])("of %j inserts after line %i %j", async (content, line, text, after) => {
    const { session, tool } = await withFiles({ f: content });
    expect(await tool.execute(insert("/memories/f", line, text))).toBe("The file /memories/f has been edited.");
    expect((await session.blocks.get("f"))?.content).toBe(after);
  });

  it.each([-1, 3, 0.5, Number.NaN])("refuses the line %d of two", async (line) => {
    const { tool } = await withFiles({ f: "x\n" });
    expect(await tool.execute(insert("/memories/f", line, "a"))).toBe(
      `Error: Invalid \`insert_line\` parameter: ${line}. It should be within the range of lines of the file: [0, 2]`,
    );
  });

  it("is planned again after a concurrent edit, and refused if it no longer fits", async () => {
    const { session } = await withFiles({ f: "one\ntwo" });
    const meanwhile = ["zero\none\ntwo", "zero\none\nthree"];
    const rushed = blocksWith(session.blocks, {
      async edit(name, edit) {
        const content = meanwhile.shift();
        if (content !== undefined) await session.blocks.edit(name, { content });
        return session.blocks.edit(name, edit);
      },
    });
    const tool = memoryTool(rushed);
    expect(await tool.execute(insert("/memories/f", 1, "half"))).toMatch(/has been edited/);
    expect((await session.blocks.get("f"))?.content).toBe("zero\nhalf\none\nthree");
    meanwhile.push("one\none");
    expect(await tool.execute(replace("/memories/f", "one", "1"))).toMatch(/Multiple occurrences .* in lines: 1, 2\./);
    expect(await session.blocks.get("f")).toMatchObject({ content: "one\none", version: 5 });
  });

  it("gives up when others are always faster, and says so", async () => {
    const { session } = await withFiles({ f: "" });
    let tries = 0;
    const tool = memoryTool(
      blocksWith(session.blocks, {
        async edit() {
          tries++;
          throw new HoldfastError("conflict", "changed", { details: { version: 2 } });
        },
      }),
    );
    expect(await tool.execute(insert("/memories/f", 0, "a"))).toMatch(/^Error: The file \/memories\/f is being edited/);
    expect(tries).toBe(100);
  });

  it("of a file that was deleted meanwhile finds it gone", async () => {
    const { session } = await withFiles({ f: "x" });
    const tool = memoryTool(
      blocksWith(session.blocks, {
        async edit(name, edit) {
          await session.blocks.delete(name);
          return session.blocks.edit(name, edit);
        },
      }),
    );
    expect(await tool.execute(insert("/memories/f", 0, "a"))).toMatch(/^Error: The path \/memories\/f does not exist/);
  });
});

describe("what may not be changed", () => {
  it("is a file that is read-only: a string says so, nothing is written", async () => {
    const { session, tool } = await withFiles({ "d/a": "x", "d/b": "x" });
    await session.blocks.configure("d/b", { readOnly: true });
    const refusal = /^Error: The file \/memories\/d\/b is read-only, so nothing was changed\. Use another file/;
    expect(await tool.execute(replace("/memories/d/b", "x", "y"))).toMatch(refusal);
    expect(await tool.execute(insert("/memories/d/b", 0, "y"))).toMatch(refusal);
    expect(await tool.execute(remove("/memories/d/b"))).toMatch(refusal);
    expect(await tool.execute(remove("/memories/d"))).toMatch(refusal);
    expect(await tool.execute(rename("/memories/d", "/memories/e"))).toMatch(refusal);
    expect(await tool.execute(view("/memories/d/b"))).toContain("     1\tx");
    expect((await session.blocks.list()).map(({ name, version }) => [name, version])).toEqual([
      ["d/a", 1],
      ["d/b", 2],
    ]);
  });

  it("is the budget: beyond it an edit is refused, or its end overflows and the model is told", async () => {
    const session = newSession();
    const tool = memoryTool(session);
    await session.blocks.create({ name: "strict", content: "12345678", maxTokens: 2, policy: "refuse" });
    await session.blocks.create({ name: "archive", content: "12345678", maxTokens: 2, policy: "archive" });
    expect(await tool.execute(insert("/memories/strict", 1, "more"))).toBe(
      "Error: The file /memories/strict would exceed its 2 tokens, so nothing was changed. Shorten the text, or move part of it to another file.",
    );
    expect(await tool.execute(replace("/memories/archive", "8", "8 walrus"))).toBe(
      "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     1\t12345678\n" +
        "The file is limited to 2 tokens: its last 7 characters were moved into searchable memory.",
    );
    expect(await session.query("walrus")).toHaveLength(1);
    expect(await tool.execute(create("/memories/huge", "x".repeat(9 * 1024 * 1024)))).toMatch(
      /^Error: The file \/memories\/huge would exceed what one file can hold/,
    );
  });

  it("is the root", async () => {
    const { tool } = await withFiles({ a: "" });
    for (const root of ["/memories", "/memories/"]) {
      expect(await tool.execute(remove(root))).toBe("Error: Cannot delete the /memories directory itself");
      expect(await tool.execute(rename(root, "/memories/b"))).toBe(
        "Error: Cannot rename the /memories directory itself",
      );
      expect(await tool.execute(create(root, ""))).toBe(`Error: File ${root} already exists`);
      expect(await tool.execute(replace(root, "a", "b"))).toBe(`Error: The path ${root} is not a file.`);
      expect(await tool.execute(rename("/memories/a", root))).toBe(`Error: The destination ${root} already exists`);
    }
  });
});

describe("directories", () => {
  it("are renamed and deleted with all that is below, and with nothing else", async () => {
    const { session, tool } = await withFiles({ "d/a": "1", "d/e/b": "2", "d.md": "3", dd: "4" });
    const names = async () => (await session.blocks.list()).map(({ name }) => name);
    expect(await tool.execute(rename("/memories/d", "/memories/x/y"))).toBe(
      "Successfully renamed /memories/d to /memories/x/y",
    );
    expect(await names()).toEqual(["d.md", "dd", "x/y/a", "x/y/e/b"]);
    expect(await tool.execute(rename("/memories/x/y/", "/memories/d/"))).toMatch(/^Successfully/);
    expect(await tool.execute(remove("/memories/d"))).toBe("Successfully deleted /memories/d");
    expect(await names()).toEqual(["d.md", "dd"]);
    expect(await tool.execute(remove("/memories/d"))).toBe("Error: The path /memories/d does not exist");
  });

  it("cannot be created over a file, inside themselves, or over an existing path", async () => {
    const { session, tool } = await withFiles({ a: "1", "d/x": "2", "e/x": "3" });
    const obstacle = "Error: /memories/a is a file, not a directory. Use another path.";
    expect(await tool.execute(create("/memories/a/b", ""))).toBe(obstacle);
    expect(await tool.execute(rename("/memories/d", "/memories/a/d"))).toBe(obstacle);
    expect(await tool.execute(rename("/memories/a", "/memories/a/b/c"))).toBe(obstacle);
    expect(await tool.execute(rename("/memories/d", "/memories/d/e"))).toBe(
      "Error: Cannot move /memories/d into itself",
    );
    for (const taken of ["/memories/e", "/memories/a", "/memories/d", "/memories/e/x"]) {
      expect(await tool.execute(rename("/memories/d", taken))).toBe(`Error: The destination ${taken} already exists`);
    }
    expect(await tool.execute(create("/memories/d", ""))).toBe("Error: File /memories/d already exists");
    expect(await tool.execute(create("/memories/new/", ""))).toMatch(
      /^Error: .* create a file in one, such as \/memories\/new\/notes\.md$/,
    );
    expect(await tool.execute(rename("/memories/a", "/memories/new/"))).toMatch(/^Error: .* Include the new file name/);
    expect(await tool.execute(rename("/memories/d", `/memories/${"n".repeat(511)}`))).toMatch(
      /^Error: The new path of \/memories\/d\/x would be too long/,
    );
    expect((await session.blocks.list()).map(({ version }) => version)).toEqual([1, 1, 1]);
  });

  it("of which a part cannot be done say how far it went", async () => {
    const { session } = await withFiles({ "d/a": "", "d/b": "", "d/c": "" });
    const tool = memoryTool(
      blocksWith(session.blocks, {
        async rename(name, to, options) {
          if (name === "d/b") await session.blocks.create({ name: to });
          return session.blocks.rename(name, to, options);
        },
      }),
    );
    expect(await tool.execute(rename("/memories/d", "/memories/e"))).toBe(
      "Error: The destination /memories/e already exists (1 of 3 files were done before that; view /memories to see them)",
    );
    expect((await session.blocks.list()).map(({ name }) => name)).toEqual(["d/b", "d/c", "e/a", "e/b"]);
  });
});

describe("what a model gets wrong", () => {
  it.each([
    [undefined, /^Error: A command is an object whose `command` is one of view, create/],
    ["view", /^Error: A command is an object/],
    [{}, /^Error: Unknown `command`\. Use one of view, create, str_replace, insert, delete, rename\.$/],
    [{ command: "undo_edit", path: "/memories/a" }, /^Error: Unknown `command`/],
    [{ command: "constructor" }, /^Error: Unknown `command`/],
    [{ command: "execute" }, /^Error: Unknown `command`/],
    [{ command: "view" }, /^Error: `path` is missing or not a string: pass a string, such as \/memories\/notes\.md\.$/],
    [{ command: "view", path: ["/memories"] }, /^Error: `path` is missing/],
    [{ command: "view", path: "/memories", view_range: [1] }, /^Error: Invalid `view_range` parameter: pass two line/],
    [{ command: "view", path: "/memories", view_range: "1-2" }, /^Error: Invalid `view_range`/],
    [{ command: "view", path: "/memories", view_range: [1, 2, 3] }, /^Error: Invalid `view_range`/],
    [{ command: "create", path: "/memories/a" }, /^Error: `file_text` is missing/],
    [{ command: "create", path: "/memories/a", file_text: 5 }, /^Error: `file_text` is missing or not a string/],
    [
      { command: "str_replace", path: "/memories/a", old_str: "x" },
      /^Error: `new_str` is missing .* "" for no text\.$/,
    ],
    [{ command: "insert", path: "/memories/a", insert_text: "x" }, /^Error: `insert_line` is missing or not a number/],
    [
      { command: "insert", path: "/memories/a", insert_text: "x", insert_line: "1" },
      /^Error: `insert_line` is missing/,
    ],
    [{ command: "rename", old_path: "/memories/a" }, /^Error: `new_path` is missing/],
    [{ command: "delete", path: "/etc/passwd" }, /^Error: Path must start with \/memories, got: \/etc\/passwd$/],
  ])("%j is answered with what to do", async (command, answer) => {
    const { session, tool } = await withFiles({});
    expect(await tool.execute(command as MemoryCommand)).toMatch(answer);
    expect(await session.blocks.list()).toEqual([]);
  });

  it("and what fails behind the tool are strings of execute, and are thrown by the handlers", async () => {
    const session = newSession();
    const down = new HoldfastError("busy", "the store is held by another process", { hint: "try again" });
    const failing = { get: () => Promise.reject(down), list: () => Promise.reject(new Error("a bug")) };
    const tool = memoryTool(blocksWith(session.blocks, failing));
    expect(await tool.execute(view("/memories/a"))).toBe("Error: the store is held by another process; try again");
    expect(await tool.execute(view("/memories"))).toBe("Error: a bug");
    const { view: unbound } = tool;
    await expect(unbound({ command: "view", path: "/memories/a" })).rejects.toMatchObject({
      code: "busy",
      cause: down,
    });
    await expect(unbound({ command: "view", path: "/memories/../a" })).rejects.toMatchObject({
      name: "MemoryToolError",
      code: "invalid_input",
    });
  });
});

it("has the handlers that the Anthropic SDK asks for", () => {
  const handlers: MemoryToolHandlers = memoryTool(newSession());
  expect(Object.keys(handlers).sort()).toEqual([
    "create",
    "delete",
    "execute",
    "insert",
    "rename",
    "str_replace",
    "view",
  ]);
});
