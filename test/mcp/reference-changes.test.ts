/**
 * Which clients are notified that the graph has changed, as docs/mcp.md says. To show that a client is not notified, a
 * block changes afterwards, of which all clients are notified.
 */
import { KnowledgeGraph, openMemory, type Session } from "holdfast";
import { FakeClock } from "holdfast/testing";
import { expect, it } from "vitest";
import { start } from "../server/started.js";
import { until } from "../support/until.js";
import { HttpAgent } from "./http-agent.js";
import { Agent, newPath } from "./support/agent.js";

const GRAPH = "memory://knowledge-graph";
const BLOCK = "memory://blocks/b";
const filter = { resourceSubscriptions: [GRAPH, BLOCK] };
const named = (name: string) => [{ name, entityType: "thing", observations: [] }];

const writeElsewhere = async (session: Session): Promise<void> => {
  await new KnowledgeGraph(session).createEntities(named("of another process"));
  await session.blocks.create({ name: "b", content: "x" });
};

it("over stdio a client is notified of its own changes of the graph, not of those by other processes", async () => {
  const path = newPath();
  const agent = await Agent.start("modern", "--path", path, "--user", "ada", "--tools", "reference");
  const memory = await openMemory({ path });
  try {
    expect((await agent.client.listen(filter)).honoredFilter).toEqual(filter);
    await agent.call("create_entities", { entities: named("its own") });
    await until(() => agent.told.length > 0);
    expect(agent.told.splice(0)).toEqual([GRAPH]);
    await writeElsewhere(memory.session({ user: "ada" }));
    await until(() => agent.told.length > 0);
    expect(agent.told).toEqual([BLOCK]);
  } finally {
    await memory.close();
  }
});

it("over HTTP no client is notified of changes of the graph, although the address is accepted", async () => {
  const clock = new FakeClock();
  const { url } = await start({ clock });
  const agent = await HttpAgent.connect(url, { query: { user: "ada", tools: "core,reference" } });
  const stream = await agent.client.listen(filter);
  expect(stream.honoredFilter).toEqual(filter);
  await agent.call("create_entities", { entities: named("its own") });
  await agent.block("create", { name: "b", content: "x" });
  await until(() => {
    clock.advance(1_000);
    return agent.told.length > 0;
  });
  expect(agent.told).toEqual([BLOCK]);
  await stream.close();
});
