/** Other ways in: a server behind the process, clients of the first SDK, clients that find out the era, bare lines. */
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as ClientOfV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioOfV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { serve } from "holdfast/server";
import { afterAll, describe, expect, it } from "vitest";
import { holdfast, Process } from "../cli/cli.js";
import { until } from "../support/until.js";
import { Agent, commandOf, expectOfForm, newPath, WORDS_ONLY } from "./support/agent.js";

const stops: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** One conversation with every tool. Ids and times differ from run to run; all else is to be the same. */
async function conversation(agent: Agent): Promise<readonly unknown[]> {
  const answers: unknown[] = [];
  const ids = new Map<string, string>();
  const call = async (name: string, args: object = {}): Promise<{ readonly ids?: readonly string[] }> => {
    const { text, data, isError } = await agent.call<{ readonly ids?: readonly string[] }>(name, args);
    for (const id of data?.ids ?? []) ids.set(id, `<${ids.size}>`);
    answers.push([name, isError, text, data]);
    return data;
  };
  const saved = [
    await call("memory_save", {
      content: "Ada moved to Lisbon.",
      occurredAt: "2026-05-01",
    }),
    await call("memory_save", { content: "Where is the bakery?", role: "user", occurredAt: "2026-05-02" }),
    await call("memory_save", { content: "long ".repeat(5_000), occurredAt: "2026-05-03" }),
  ].flatMap((data) => data.ids ?? []);
  await call("memory_search", { query: "Where does Ada live?" });
  await call("memory_search", { query: "bakery", role: "user" });
  await call("memory_search", { query: "bakery", from: "2026-06-01" });
  await call("memory_get", { ids: [...saved, "nope"] });
  await call("memory_get", { ids: [saved[2]], from: 4_000 });
  await call("memory_block", { command: "create", name: "user", content: "Name: Ada" });
  await call("memory_block", { command: "create", name: "user", content: "again" });
  await call("memory_block", { command: "insert", name: "user", line: 1, new: "City: Lisbon", reason: "moved" });
  await call("memory_block", { command: "str_replace", name: "user", old: "Porto", new: "x" });
  await call("memory_block", { command: "insert", name: "nobody", line: 0, new: "x" });
  await call("memory_block", { command: "restore", name: "user", version: 9 });
  await call("memory_block", { command: "restore", name: "user", version: 1 });
  await call("memory_block", { command: "rename", name: "user", to: "ada" });
  await call("memory_block", { command: "view" });
  await call("memory_block", { command: "view", name: "ada", version: 2 });
  await call("memory_block", { command: "view", name: "nobody" });
  await call("memory_block", { command: "history", name: "ada" });
  await call("memory_context", { query: "Where does Ada live?" });
  await call("memory_context", { query: "Where does Ada live?" });
  await call("memory_context", { query: "Where does Ada live?", fresh: true });
  await call("memory_save", { content: "x", occurredAt: "once" });
  await call("memory_forget", { ids: [saved[0], "nope"] });
  await call("memory_search", { query: "Lisbon" });
  await call("memory_status");
  answers.push((await agent.client.listResources()).resources.map(({ uri, size }) => [uri, size]));
  answers.push((await agent.client.readResource({ uri: "memory://blocks/ada" })).contents);
  let text = JSON.stringify(answers, null, 1);
  for (const [id, mark] of ids) text = text.replaceAll(id, mark).replaceAll(id.slice(-8), mark);
  text = text.replace(/"(at|lastSavedAt|tokens)": \d+/g, '"$1": 0');
  // How much of a text fits depends on the digits of its id, a little.
  text = text.replace(/(?:long ?)+/g, "long").replace(/("next":|continues: from) \d+/g, "$1 0");
  return JSON.parse(text) as unknown[];
}

describe("a server behind it", () => {
  it("gives the same answers as the file", async () => {
    const server = await serve({ path: newPath(), server: { port: 0, logLevel: "silent" } });
    stops.push(() => server.stop());
    const scope = ["--user", "ada", "--session", "one", "--max-tokens", "1000"];
    const here = await Agent.start("legacy", "--path", newPath(), ...scope);
    const there = await Agent.start("modern", "--url", server.url, ...scope);
    const answers = await conversation(here);
    expect(answers.length).toBeGreaterThan(25);
    expect(await conversation(there)).toEqual(answers);
  });
});

describe("a client of the first SDK", () => {
  it("connects, lists and calls", async () => {
    const client = new ClientOfV1({ name: "v1", version: "1" });
    stops.push(() => client.close());
    await client.connect(new StdioOfV1(commandOf(["--path", newPath(), "--user", "ada"])));
    const { tools } = await client.listTools();
    expect(tools).toHaveLength(7);
    const saved = await client.callTool({ name: "memory_save", arguments: { content: "Ada lives in Lisbon." } });
    expect(saved.structuredContent).toMatchObject({ ids: [expect.any(String)] });
    const found = await client.callTool({ name: "memory_search", arguments: { query: "Lisbon" } });
    expect(found.content).toMatchObject([{ type: "text", text: expect.stringContaining("> Ada lives in Lisbon.") }]);
    expect((await client.callTool({ name: "memory_search", arguments: {} })).isError).toBe(true);
  });
});

describe("a client that finds out what the server speaks", () => {
  it("comes to the newest, over a process for the question and one for the rest", async () => {
    const client = new Client({ name: "auto", version: "1" }, { versionNegotiation: { mode: "auto" } });
    stops.push(() => client.close());
    await client.connect(new StdioClientTransport(commandOf(["--path", newPath(), "--user", "ada"])));
    expect(client.getProtocolEra()).toBe("modern");
    expect((await client.callTool({ name: "memory_status", arguments: {} })).isError).not.toBe(true);
  });
});

interface Answered {
  readonly id?: number;
  readonly result?: unknown;
}

describe("the lines on stdout", () => {
  it("are messages of the protocol and nothing else; bad lines are survived, and the end of stdin is the end", async () => {
    const server = Process.holdfast(["mcp", "--path", newPath(), "--user", "ada"], WORDS_ONLY);
    const send = (message: object | string): void => {
      const line = typeof message === "string" ? message : JSON.stringify({ jsonrpc: "2.0", ...message });
      server.child.stdin?.write(`${line}\n`);
    };
    const messages = (): readonly Answered[] =>
      server.out
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Answered);
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "lines", version: "1" } };
    const requests = [
      ["InitializeResult", "initialize", params],
      ["ListToolsResult", "tools/list", {}],
      ["CallToolResult", "tools/call", { name: "memory_save", arguments: { content: "Ada lives in Lisbon." } }],
      [
        "CallToolResult",
        "tools/call",
        { name: "memory_block", arguments: { command: "create", name: "a", content: "b" } },
      ],
      ["CallToolResult", "tools/call", { name: "memory_search", arguments: { query: "Lisbon", limit: -1 } }],
      ["ListResourcesResult", "resources/list", {}],
      ["ListResourceTemplatesResult", "resources/templates/list", {}],
      ["ReadResourceResult", "resources/read", { uri: "memory://blocks/a" }],
      ["EmptyResult", "resources/subscribe", { uri: "memory://blocks/a" }],
      ["ListPromptsResult", "prompts/list", {}],
      ["GetPromptResult", "prompts/get", { name: "use_memory" }],
      ["JSONRPCErrorResponse", "resources/read", { uri: "memory://blocks/nobody" }],
      ["JSONRPCErrorResponse", "tools/call", { name: "nothing", arguments: {} }],
      ["JSONRPCErrorResponse", "no/such/method", {}],
      ["EmptyResult", "ping", {}],
    ] as const;
    for (const [at, [, method, given]] of requests.entries()) {
      if (at === 1) {
        send({ method: "notifications/initialized" });
        send("this is no message");
        send("{}");
      }
      send({ id: at, method, params: given });
      await until(() => messages().some(({ id }) => id === at));
    }
    server.child.stdin?.end();
    expect(await server.ended).toBe(0);
    for (const message of messages()) expectOfForm("JSONRPCMessage", message);
    for (const [at, [form, method]] of requests.entries()) {
      const answers = messages().filter(({ id }) => id === at);
      expect(answers, method).toHaveLength(1);
      expectOfForm(form, form === "JSONRPCErrorResponse" ? answers[0] : answers[0]?.result);
    }
    expect(server.err).toContain("user ada");
    expect(server.err).not.toContain("Lisbon");
  });
});

describe("holdfast mcp", () => {
  it.each([
    [["--tools", "nope"], /unknown tool group: "nope"[\s\S]*core, admin, openai, reference/],
    [["--tools", "core,"], /unknown tool group/],
    [["--max-tokens", "499"], /--max-tokens is too small[\s\S]*at least 500/],
    [["--max-tokens", "many"], /whole number/],
  ])("refuses %j with code 2 and a message on stderr", async (flags, said) => {
    const { code, out, err } = await holdfast(["mcp", "--path", newPath(), ...flags], { stdin: "" });
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(said);
  });

  it("offers the groups that it is asked for", async () => {
    const agent = await Agent.start("legacy", "--path", newPath(), "--user", "ada", "--tools", "openai", "--read-only");
    expect((await agent.tools()).map(({ name }) => name)).toEqual(["search", "fetch"]);
  });
});
