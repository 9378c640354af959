/** The memory tool compared with the Anthropic SDK's own, used by the SDK, and used concurrently. */
import Anthropic from "@anthropic-ai/sdk";
import { betaMemoryTool } from "@anthropic-ai/sdk/helpers/beta/memory";
import fc from "fast-check";
import type { Session } from "holdfast";
import { type MemoryCommand, memoryTool } from "holdfast/anthropic";
import { connect } from "holdfast/client";
import { serve } from "holdfast/server";
import { describe, expect, it } from "vitest";
import { chunksOf } from "../../support/bundle.js";
import { newFolder, newPath, open } from "../../support/opened.js";
import { DIFFERENCES, SYSTEM_ERROR } from "./differences.js";
import { type Answers, SideBySide } from "./side-by-side.js";

const RUNS = 40;

const paths = fc.constantFrom(
  ...["/memories/a", "/memories/b.md", "/memories/d", "/memories/d/a", "/memories/d/e/b", "/memories/d/e"],
  ...["/memories/f/g/h/i", "/memories/.h", "/memories/.h/x", "/memories/node_modules/m", "/memories", "/elsewhere/a"],
);
const word = fc.constantFrom("one", "two", "three", "é", "$&");
const text = fc
  .array(fc.array(word, { maxLength: 2 }), { maxLength: 5 })
  .map((lines) => lines.map((words) => words.join(" ")).join("\n"));

const commands: fc.Arbitrary<MemoryCommand> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ command: fc.constant("create"), path: paths, file_text: text }) },
  {
    weight: 3,
    arbitrary: fc.record({ command: fc.constant("str_replace"), path: paths, old_str: word, new_str: text }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      command: fc.constant("insert"),
      path: paths,
      insert_line: fc.integer({ min: -1, max: 6 }),
      insert_text: text.chain((lines) => fc.constantFrom(lines, `${lines}\n`)),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record(
      {
        command: fc.constant("view"),
        path: paths,
        view_range: fc.tuple(fc.integer({ min: -1, max: 4 }), fc.integer({ min: -1, max: 6 })),
      },
      { requiredKeys: ["command", "path"] },
    ),
  },
  { weight: 1, arbitrary: fc.record({ command: fc.constant("delete"), path: paths }) },
  { weight: 2, arbitrary: fc.record({ command: fc.constant("rename"), old_path: paths, new_path: paths }) },
);

/** Each command, successful and refused: random commands may miss one of them. */
const EACH: MemoryCommand[] = [
  { command: "create", path: "/memories/a", file_text: "one" },
  { command: "create", path: "/memories/a", file_text: "two" },
  { command: "str_replace", path: "/memories/a", old_str: "one", new_str: "two" },
  { command: "str_replace", path: "/memories/a", old_str: "one", new_str: "two" },
  { command: "insert", path: "/memories/a", insert_line: 0, insert_text: "three" },
  { command: "insert", path: "/memories/a", insert_line: 6, insert_text: "three" },
  { command: "view", path: "/memories/a" },
  { command: "view", path: "/memories/b.md" },
  { command: "rename", old_path: "/memories/a", new_path: "/memories/d/a" },
  { command: "rename", old_path: "/memories/a", new_path: "/memories/d/a" },
  { command: "delete", path: "/memories/d/a" },
  { command: "delete", path: "/memories/d/a" },
];

/** Sizes of directories are the sums of their files here, and the file system's there. */
const withoutDirectorySizes = (answer: string): string =>
  answer.startsWith("Here're")
    ? answer.replace(/^(.*\n)[\d.]+[BKMG]\t/, "$1?\t").replace(/^[\d.]+[BKMG](?=\t.*\/$)/gm, "?")
    : answer;

/** The differences that random commands meet: messages of the operating system, and a range without lines. */
function expectSame({ ours, reference }: Answers, command: MemoryCommand): void {
  if (SYSTEM_ERROR.test(reference)) {
    expect(ours).toMatch(/^Error: (?!E[A-Z]+: )/);
  } else if (/with line numbers:\n$/.test(reference)) {
    expect(ours).toMatch(/^Error: Invalid `view_range`/);
  } else {
    expect(withoutDirectorySizes(ours), JSON.stringify(command)).toBe(withoutDirectorySizes(reference));
  }
}

/** Twice in one line is a separate difference. */
async function isTwiceInALine(session: Session, command: MemoryCommand): Promise<boolean> {
  if (command.command !== "str_replace") return false;
  const block = await session.blocks.get(command.path.slice("/memories/".length) || "-");
  return block?.content.split("\n").some((line) => line.split(command.old_str).length > 2) ?? false;
}

describe("the memory tool and the one of the Anthropic SDK", () => {
  it("answer alike to the same commands, and keep the same files", async () => {
    const memory = await open({ path: ":memory:" });
    const seen = new Set<string>();
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(commands, { minLength: 10, maxLength: 40 }), async (sequence) => {
        const session = memory.session({ user: `user ${++runs}` });
        const pair = await SideBySide.open(session, newFolder());
        for (const command of sequence) {
          if (await isTwiceInALine(session, command)) continue;
          const answers = await pair.give(command);
          expectSame(answers, command);
          seen.add(`${command.command} ${answers.ours.startsWith("Error: ") ? "refused" : "done"}`);
        }
        for (const { name } of await session.blocks.list()) {
          const { ours, reference } = await pair.give({ command: "view", path: `/memories/${name}` });
          expect(ours).toBe(reference);
        }
        expectSame(await pair.give({ command: "view", path: "/memories" }), { command: "view", path: "/memories" });
      }),
      { numRuns: RUNS, examples: [[EACH]] },
    );
    // Each command was both successful and refused, so the comparison covered both.
    expect(seen.size).toBe(12);
  });

  it.each(DIFFERENCES)("differ in $what: $reason", async ({ before, command, ours, reference }) => {
    const memory = await open({ path: ":memory:" });
    const pair = await SideBySide.open(memory.session({ user: "ada" }), newFolder());
    for (const first of before) expectSame(await pair.give(first), first);
    const answers = await pair.give(command);
    expect(answers.ours).toMatch(ours);
    expect(answers.reference).toMatch(reference);
  });

  it("both refuse paths outside of /memories", async () => {
    const memory = await open({ path: ":memory:" });
    const pair = await SideBySide.open(memory.session({ user: "ada" }), newFolder());
    for (const path of ["/memories/../x", "/memories/a/../../x", "/memories/..", "/etc/passwd", "memories/a", ""]) {
      for (const command of [
        { command: "view", path },
        { command: "create", path, file_text: "x" },
        { command: "delete", path },
        { command: "rename", old_path: path, new_path: "/memories/y" },
        { command: "rename", old_path: "/memories/y", new_path: path },
      ] as const) {
        const { ours, reference } = await pair.give(command);
        expect(ours).toBe(reference);
        expect(ours).toMatch(/^Error: Path /);
      }
    }
  });
});

describe("the memory tool used by the Anthropic SDK", () => {
  it("answers as betaMemoryTool", async () => {
    const memory = await open({ path: ":memory:" });
    const session = memory.session({ user: "ada" });
    const tool = betaMemoryTool(memoryTool(session));
    expect(tool).toMatchObject({ type: "memory_20250818", name: "memory" });
    const path = "/memories/notes.md";
    expect(await tool.run({ command: "create", path, file_text: "likes tea\n" })).toBe(
      `File created successfully at: ${path}`,
    );
    expect(await tool.run({ command: "view", path })).toContain("     1\tlikes tea");
    await expect(Promise.resolve(tool.run({ command: "create", path, file_text: "" }))).rejects.toThrow(
      `File ${path} already exists`,
    );
    expect((await session.blocks.get("notes.md"))?.content).toBe("likes tea\n");
  });

  it("reports a refusal to the model as an error, and its runner continues", async () => {
    const memory = await open({ path: ":memory:" });
    const session = memory.session({ user: "ada" });
    const path = "/memories/notes.md";
    const uses = [
      { command: "str_replace", path, old_str: "a", new_str: "b" },
      { command: "create", path, file_text: "likes tea" },
    ];
    const bodies: { readonly messages: readonly { readonly content: unknown }[] }[] = [];
    const reply = (content: readonly unknown[], stop_reason: string) =>
      Response.json({ id: "m", type: "message", role: "assistant", model: "m", content, stop_reason, usage: {} });
    const client = new Anthropic({
      apiKey: "none",
      baseURL: "http://127.0.0.1:9",
      maxRetries: 0,
      fetch: async (_, init) => {
        bodies.push(JSON.parse(String(init?.body)));
        const input = uses[bodies.length - 1];
        const use = { type: "tool_use", id: `use ${bodies.length}`, name: "memory", input };
        return input ? reply([use], "tool_use") : reply([{ type: "text", text: "done" }], "end_turn");
      },
    });
    const last = await client.beta.messages.toolRunner({
      model: "m",
      max_tokens: 10,
      messages: [{ role: "user", content: "remember tea" }],
      tools: [betaMemoryTool(memoryTool(session))],
    });
    expect(last.content).toMatchObject([{ text: "done" }]);
    const results = bodies.slice(1).map(({ messages }) => messages.at(-1)?.content);
    const missing = `Error: The path ${path} does not exist. Please provide a valid path.`;
    expect(results[0]).toEqual([{ type: "tool_result", tool_use_id: "use 1", content: missing, is_error: true }]);
    const made = `File created successfully at: ${path}`;
    expect(results[1]).toEqual([{ type: "tool_result", tool_use_id: "use 2", content: made }]);
  });
});

describe("the memory tool used concurrently", () => {
  it("loses no edit of three concurrent editors of one file, one of them behind a server", async () => {
    const path = newPath();
    const [first, second] = [await open({ path }), await open({ path })];
    const server = await serve({ path, server: { port: 0, logLevel: "silent" } });
    const scope = { user: "ada", agent: "claude" } as const;
    const remote = connect(server.url);
    const sessions = [first.session(scope), second.session(scope), remote.session(scope)] as const;
    const file = "/memories/projects/shared plan.md";
    const ROUNDS = 8;
    const lines = sessions.map((_, who) => `agent ${who}: 0`);
    const [session] = sessions;
    await memoryTool(session).create({ command: "create", path: file, file_text: lines.join("\n") });
    const edit = async (who: number, tool: ReturnType<typeof memoryTool>) => {
      for (let round = 0; round < ROUNDS; round++) {
        const counted = { old_str: `agent ${who}: ${round}`, new_str: `agent ${who}: ${round + 1}` };
        await tool.str_replace({ command: "str_replace", path: file, ...counted });
        await tool.insert({ command: "insert", path: file, insert_line: 3, insert_text: `note ${who}.${round}` });
      }
    };
    await Promise.all(sessions.map((one, who) => edit(who, memoryTool(one))));
    const block = await session.blocks.get("projects/shared plan.md");
    const [head, notes] = [block?.content.split("\n").slice(0, 3), block?.content.split("\n").slice(3)];
    expect(head).toEqual(sessions.map((_, who) => `agent ${who}: ${ROUNDS}`));
    const all = sessions.flatMap((_, who) => Array.from({ length: ROUNDS }, (__, round) => `note ${who}.${round}`));
    expect(notes?.sort()).toEqual(all.sort());
    const history = await session.blocks.history("projects/shared plan.md", { limit: 0 });
    expect(history.map(({ version }) => version)).toEqual(all.concat(all).map((_, at) => 2 * all.length + 1 - at));
    expect(new Set(history.map(({ reason }) => reason))).toEqual(
      new Set(["memory tool: str_replace", "memory tool: insert"]),
    );
    await remote.close();
    await server.stop();
  });
});

it("loads no Node module and no package", () => {
  const chunks = [...chunksOf("compat/anthropic/index.js").values()];
  const sources = chunks.flatMap((chunk) => chunk.sources);
  expect(sources).toEqual(expect.arrayContaining(["src/compat/anthropic/memory-tool.ts", "src/errors.ts"]));
  expect(sources.filter((source) => !source.startsWith("src/"))).toEqual([]);
  expect(chunks.flatMap((chunk) => chunk.foreign)).toEqual([]);
});
