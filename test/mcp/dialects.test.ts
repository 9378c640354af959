/** One truth, four dialects: a block edited through any door is the same block through every other one, at once. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { memoryTool } from "holdfast/anthropic";
import { connect } from "holdfast/client";
import { serve } from "holdfast/server";
import { describe, expect, it } from "vitest";
import { holdfast } from "../cli/cli.js";
import { newPath, open } from "../support/opened.js";

const NAME = "notes/user.md";
const URI = "memory://blocks/notes%2Fuser.md";

interface Dialect {
  readonly name: string;
  /** Puts a line below the first one. */
  readonly insert: (line: string) => Promise<unknown>;
  readonly replace: (old: string, with_: string) => Promise<unknown>;
  readonly read: () => Promise<{ readonly text: string; readonly version: number }>;
}

describe("a memory block", () => {
  it("is edited through MCP, HTTP, the command line and Anthropic's memory tool, and read the same through all", async () => {
    const path = newPath();
    const server = await serve({ path, server: { port: 0 } });
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp?user=ada`)));
    const library = await open({ path });
    try {
      const remote = connect(server.url).session({ user: "ada" });
      const local = library.session({ user: "ada" });
      const dialects = [mcp(client), http(remote), commandLine(path), memories(local)];
      await remote.blocks.create({ name: NAME, content: "first" });
      let text = "first";
      let version = 1;
      for (const [at, writer] of dialects.entries()) {
        for (const act of ["insert", "replace"] as const) {
          const line = `${act} ${at} ✓ 世界`;
          if (act === "insert") await writer.insert(line);
          else await writer.replace(text.split("\n")[1] ?? "", line);
          const [head = "", ...rest] = text.split("\n");
          text = act === "insert" ? [head, line, ...rest].join("\n") : [head, line, ...rest.slice(1)].join("\n");
          version++;
          for (const reader of dialects) {
            expect(await reader.read(), `${writer.name} → ${reader.name}`).toEqual({ text, version });
          }
          const { contents } = await client.readResource({ uri: URI });
          expect(contents).toEqual([{ uri: URI, mimeType: "text/plain", text }]);
        }
      }
      expect((await local.blocks.history(NAME)).map((edit) => edit.version)).toEqual([9, 8, 7, 6, 5, 4, 3, 2]);

      // Renamed in one, it has the new name in all; deleted in one, it is gone from all.
      await memories(local).rename("/memories/notes/user.md", "/memories/ada");
      expect((await remote.blocks.list()).map(({ name }) => name)).toEqual(["ada"]);
      const listed = await client.callTool({ name: "memory_block", arguments: { command: "view" } });
      expect(listed.structuredContent).toMatchObject({ blocks: [{ name: "ada", version: 10 }] });
      expect((await holdfast(["blocks", "delete", "ada", "--yes", "--user", "ada", "--path", path])).code).toBe(0);
      expect(await local.blocks.list()).toEqual([]);
      expect((await client.listResources()).resources).toEqual([]);
      expect(await memoryTool(local).view({ command: "view", path: "/memories" })).not.toContain("ada");
    } finally {
      await client.close();
      await server.stop();
    }
  });
});

type Blocks = Parameters<typeof memoryTool>[0]["blocks"];

function mcp(client: Client): Dialect {
  const call = async (args: Record<string, unknown>) => {
    const result = await client.callTool({ name: "memory_block", arguments: { name: NAME, ...args } });
    expect(result.isError, JSON.stringify(result.content)).toBeFalsy();
    const { blocks } = result.structuredContent as { blocks: { content?: string; version: number }[] };
    return blocks[0];
  };
  return {
    name: "MCP",
    insert: (line) => call({ command: "insert", line: 1, new: line, reason: "test" }),
    replace: (old, new_) => call({ command: "str_replace", old, new: new_ }),
    read: async () => {
      const { content = "", version = 0 } = (await call({ command: "view" })) ?? {};
      return { text: content, version };
    },
  };
}

function http({ blocks }: { readonly blocks: Blocks }): Dialect {
  return {
    name: "HTTP",
    insert: (line) => blocks.edit(NAME, { insert: line, line: 1 }),
    replace: (old, with_) => blocks.edit(NAME, { replace: old, with: with_ }),
    read: async () => {
      const { content = "", version = 0 } = (await blocks.get(NAME)) ?? {};
      return { text: content, version };
    },
  };
}

function commandLine(path: string): Dialect {
  const run = async (verb: string, ...args: readonly string[]): Promise<string> => {
    const { code, out, err } = await holdfast(["blocks", verb, NAME, ...args, "--user", "ada", "--path", path]);
    expect(code, err).toBe(0);
    return out;
  };
  return {
    name: "command line",
    insert: (line) => run("edit", "--insert", line, "--line", "1"),
    replace: (old, with_) => run("edit", "--replace", old, "--with", with_),
    read: async () => {
      const { content, version } = JSON.parse(await run("show", "--json")) as { content: string; version: number };
      return { text: content, version };
    },
  };
}

function memories(session: {
  readonly blocks: Blocks;
}): Dialect & { rename(from: string, to: string): Promise<unknown> } {
  const tool = memoryTool(session);
  const path = `/memories/${NAME}`;
  return {
    name: "memory tool",
    insert: (line) => tool.insert({ command: "insert", path, insert_line: 1, insert_text: line }),
    replace: (old, with_) => tool.str_replace({ command: "str_replace", path, old_str: old, new_str: with_ }),
    read: async () => {
      const [, ...lines] = (await tool.view({ command: "view", path })).split("\n");
      const { version = 0 } = (await session.blocks.get(NAME)) ?? {}; // the tool shows no versions
      return { text: lines.map((line) => line.replace(/^ *\d+\t/, "")).join("\n"), version };
    },
    rename: (from, to) => tool.rename({ command: "rename", old_path: from, new_path: to }),
  };
}
