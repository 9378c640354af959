/** Blocks as resources over stdio: listing, reading, and change notifications; and the prompt. */
import { beforeAll, describe, expect, it } from "vitest";
import { holdfast } from "../cli/cli.js";
import { until } from "../support/until.js";
import { Agent, ERAS, newPath } from "./support/agent.js";

const uriOf = (name: string): string => `memory://blocks/${encodeURIComponent(name)}`;

describe.each(ERAS)("over stdio, in the %s era,", (era) => {
  const path = newPath();
  let agent: Agent;
  beforeAll(async () => {
    agent = await Agent.start(era, "--path", path, "--user", "ada", "--session", "one");
    for (const name of ["watched", "unwatched", "a/b?c#d é%"])
      await block({ command: "create", name, content: `I am ${name}` });
  });

  const block = async (input: object): Promise<void> => {
    const { isError, text } = await agent.call("memory_block", input);
    if (isError) throw new Error(text);
  };
  const edit = (name: string, text: string): Promise<void> => block({ command: "insert", name, line: 0, new: text });
  /** By another process, of which this one knows nothing. */
  const elsewhere = async (...args: readonly string[]): Promise<void> => {
    const ran = await holdfast(["blocks", ...args, "--path", path, "--user", "ada"]);
    if (ran.code !== 0) throw new Error(ran.err);
  };
  /** Asks to be told of one block, and of the list; what ends that is returned. */
  async function subscribe(uri: string): Promise<() => Promise<unknown>> {
    if (era === "legacy") {
      await agent.client.subscribeResource({ uri });
      return () => agent.client.unsubscribeResource({ uri });
    }
    const filter = { resourcesListChanged: true, resourceSubscriptions: [uri] };
    const subscription = await agent.client.listen(filter);
    expect(subscription.honoredFilter).toEqual(filter);
    return () => subscription.close();
  }
  const told = (what: string): Promise<void> => until(() => agent.told.includes(what));
  const textOf = async (name: string): Promise<unknown> => {
    const { contents } = await agent.client.readResource({ uri: uriOf(name) });
    return contents;
  };

  it("blocks are listed and read under their names, whatever these are", async () => {
    const { resources } = await agent.client.listResources();
    expect(resources.map(({ name, title, uri }) => [name, title, uri])).toEqual(
      ["a/b?c#d é%", "unwatched", "watched"].map((name) => [name, name, uriOf(name)]),
    );
    for (const { name, uri, mimeType, size, annotations } of resources) {
      expect(mimeType).toBe("text/plain");
      expect(size).toBe(Buffer.byteLength(`I am ${name}`));
      expect(annotations?.lastModified).toMatch(/^\d{4}-\d\d-\d\dT/);
      expect(await textOf(name)).toEqual([{ uri, mimeType, text: `I am ${name}` }]);
    }
    const { resourceTemplates } = await agent.client.listResourceTemplates();
    expect(resourceTemplates).toMatchObject([{ uriTemplate: "memory://blocks/{name}", title: "Memory blocks" }]);
  });

  it("a block that has no address is not listed, and is reached by the tool", async () => {
    await block({ command: "create", name: "..", content: "up" });
    expect((await agent.client.listResources()).resources.map(({ name }) => name)).not.toContain("..");
    expect((await agent.call("memory_block", { command: "view", name: ".." })).text).toContain("> up");
  });

  it.each([
    "memory://blocks/nobody",
    "memory://blocks/%e4%b8",
    "memory://blocks/",
    "memory://blocks/..",
    "memory://x/y",
  ])("%s is not found", async (uri) => {
    const error = await agent.client.readResource({ uri }).then(
      () => undefined,
      (reason: unknown) => reason as { readonly code: number; readonly message: string },
    );
    expect(error?.message).toMatch(/not found/i);
    expect([-32002, -32602]).toContain(error?.code);
  });

  it("a subscriber is notified of edits by this client and by other processes, and of nothing else", async () => {
    const end = await subscribe(uriOf("watched"));
    agent.told.length = 0;
    await edit("unwatched", "silent");
    await edit("watched", "by this client");
    await told(uriOf("watched"));
    expect(agent.told.splice(0)).toEqual([uriOf("watched")]);

    await elsewhere("edit", "unwatched", "--append", "silent");
    await elsewhere("edit", "watched", "--append", "by another process");
    await told(uriOf("watched"));
    expect(agent.told.splice(0)).toEqual([uriOf("watched")]);
    expect(await textOf("watched")).toMatchObject([{ text: "by this client\nI am watched\nby another process" }]);

    await block({ command: "create", name: "new", content: "x" });
    await told("list");
    expect(agent.told.splice(0)).toEqual(["list"]);
    await elsewhere("delete", "new", "--yes");
    await told("list");
    expect(agent.told.splice(0)).toEqual(["list"]);

    await block({ command: "rename", name: "watched", to: "renamed" });
    await told(uriOf("watched"));
    expect(agent.told.splice(0).sort()).toEqual(["list", uriOf("watched")]);
    await block({ command: "rename", name: "renamed", to: "watched" });
    await told(uriOf("watched"));

    await end();
    const endOther = await subscribe(uriOf("unwatched"));
    agent.told.length = 0;
    await edit("watched", "nobody asks any more");
    await edit("unwatched", "heard now");
    await told(uriOf("unwatched"));
    expect(agent.told).toEqual([uriOf("unwatched")]);
    await endOther();
  });

  it("a prompt teaches to use the memory, for a task if there is one", async () => {
    const { prompts } = await agent.client.listPrompts();
    expect(prompts).toMatchObject([{ name: "use_memory", arguments: [{ name: "task" }] }]);
    expect(prompts[0]?.arguments?.[0]?.required ?? false).toBe(false);
    const textFor = async (args: { readonly task?: string }): Promise<string> => {
      const { messages } = await agent.client.getPrompt({ name: "use_memory", arguments: { ...args } });
      expect(messages).toMatchObject([{ role: "user", content: { type: "text" } }]);
      return JSON.stringify(messages);
    };
    const plain = await textFor({});
    for (const { name } of await agent.tools()) if (name !== "memory_status") expect(plain).toContain(name);
    expect(plain).not.toContain("undefined");
    expect(await textFor({ task: "Plan a trip." })).toContain("Plan a trip.");
  });

  it("the client gets a description and instructions", () => {
    expect(agent.client.getServerVersion()).toMatchObject({ name: "holdfast", title: "Holdfast" });
    expect(agent.client.getInstructions()).toMatch(/memory_context.*memory_block.*never follow instructions/);
    expect(agent.client.getServerCapabilities()).toMatchObject({
      tools: {},
      prompts: {},
      resources: { subscribe: true, listChanged: true },
    });
  });
});
