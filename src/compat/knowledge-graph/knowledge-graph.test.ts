/** The nine operations, what they refuse, and concurrent writers. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Memory, openMemory } from "../../memory.js";
import type { Session } from "../../session.js";
import type { Entity } from "./graph.js";
import { entityId, relationId } from "./graph-item.js";
import type { GraphSession } from "./graph-items.js";
import { KnowledgeGraph } from "./knowledge-graph.js";

let memory: Memory;
let session: Session;
let graph: KnowledgeGraph;

beforeEach(async () => {
  memory = await openMemory({ path: ":memory:", buffer: { hybridBuffer: { embeddingModel: "none" } } });
  session = memory.session({ user: "ada", agent: "tutor" });
  graph = new KnowledgeGraph(session);
});
afterEach(() => memory.close());

const entity = (name: string, ...observations: string[]): Entity => ({ name, entityType: "thing", observations });
const relation = (from: string, to: string, relationType = "knows") => ({ from, to, relationType });
const names = async (): Promise<readonly string[]> => (await graph.readGraph()).entities.map(({ name }) => name);

/** The session, with a hook that runs once before a call of this method. */
function meanwhile(method: "addItems" | "update", happening: () => Promise<unknown>): GraphSession {
  let isDue = true;
  const act = async (): Promise<void> => {
    if (!isDue) return;
    isDue = false;
    await happening();
  };
  return {
    scope: session.scope,
    get: (ids) => session.get(ids),
    list: (options) => session.list(options),
    delete: (ids) => session.delete(ids),
    addItems: async (items, options) => {
      if (method === "addItems") await act();
      return session.addItems(items, options);
    },
    update: async (id, patch, options) => {
      if (method === "update") await act();
      return session.update(id, patch, options);
    },
  };
}

describe("a graph", () => {
  it("keeps entities, relations and observations in the order of their creation, page after page", async () => {
    const many = Array.from({ length: 300 }, (_, at) => entity(`e${at}`));
    await graph.createEntities(many);
    await graph.createRelations(many.map(({ name }) => relation(name, "e0")));
    await graph.addObservations([{ entityName: "e7", contents: ["b", "a"] }]);
    await graph.deleteEntities(["e1"]);
    await graph.createEntities([entity("e1", "again")]);
    const { entities, relations } = await graph.readGraph();
    expect(entities).toEqual([
      entity("e0"),
      ...many.slice(2, 7),
      entity("e7", "b", "a"),
      ...many.slice(8),
      entity("e1", "again"),
    ]);
    expect(relations.map(({ from }) => from)).toEqual(["e0", ...many.slice(2).map(({ name }) => name)]);
  });

  it("is that of a memory: not of a session, nor of an agent, nor of anyone else", async () => {
    expect(() => new KnowledgeGraph(memory.session({ user: "ada", session: "s" }))).toThrow(
      /scope.session must be omitted/,
    );
    await graph.createEntities([entity("tea")]);
    expect(await new KnowledgeGraph(memory.session({ user: "ada" })).openNodes(["tea"])).toMatchObject({
      entities: [{ name: "tea" }],
    });
    expect(await new KnowledgeGraph(memory.session({ user: "bob" })).readGraph()).toEqual({
      entities: [],
      relations: [],
    });
    await memory.session({ user: "ada", session: "s" }).add([{ role: "user", content: "hello" }]);
    await memory.forget({ user: "ada", session: "s" });
    expect(await names()).toEqual(["tea"]);
  });

  it("is found by words, forgotten by id, and ignores items that only look like part of it", async () => {
    await graph.createEntities([entity("Lisbon", "has seven hills"), entity("Porto")]);
    await graph.createRelations([relation("Lisbon", "Porto", "is_south_of")]);
    const [hills] = await session.query("hills");
    expect(hills?.content).toBe("[entity: Lisbon (thing)]\nhas seven hills");
    const [south] = await session.query("south");
    await session.delete([south?.id ?? ""]);
    await session.addItems([{ kind: "knowledge", content: "mine", metadata: { graph: "entity" } }]);
    expect(await graph.readGraph()).toEqual({
      entities: [entity("Lisbon", "has seven hills"), entity("Porto")],
      relations: [],
    });
  });

  it("refuses input of another form, and writes nothing", async () => {
    const wrong = [{ name: "a", entityType: "t", observations: [] }, { name: 7 }] as unknown as Entity[];
    await expect(graph.createEntities(wrong)).rejects.toMatchObject({
      code: "invalid_input",
      message: "entities[1].name must be a string, got a number",
    });
    await expect(graph.openNodes("a" as unknown as string[])).rejects.toThrow("names must be a list");
    await expect(graph.createEntities([entity("big", "x".repeat(9_000_000))])).rejects.toMatchObject({
      code: "too_large",
    });
    expect(await names()).toEqual([]);
  });

  it("adds observations to all of the entities or to none", async () => {
    await graph.createEntities([entity("a"), entity("c")]);
    const call = ["a", "gone", "c"].map((entityName) => ({ entityName, contents: ["x"] }));
    await expect(graph.addObservations(call)).rejects.toMatchObject({
      code: "not_found",
      message: "Entity with name gone not found",
    });
    expect((await graph.readGraph()).entities).toEqual([entity("a"), entity("c")]);
  });
});

describe("an edit of an item that makes it nothing of the graph any more", () => {
  const porto = entityId("Porto");
  const north = relation("Porto", "Lisbon", "is_north_of");
  beforeEach(async () => {
    await graph.createEntities([entity("Lisbon", "has hills"), entity("Porto", "has a river")]);
    await graph.createRelations([north]);
    for (const id of [porto, relationId(north)]) await session.update(id, { content: "rains, says Ada" });
  });

  it("does not block its name: what is created takes its place, and the text stays with it", async () => {
    expect(await graph.readGraph()).toEqual({ entities: [entity("Lisbon", "has hills")], relations: [] });
    const observations = [{ entityName: "Porto", contents: ["has bridges"] }];
    await expect(graph.addObservations(observations)).rejects.toThrow("Porto not found");
    expect(await graph.createEntities([entity("Porto", "has a harbour"), entity("Porto", "twin")])).toHaveLength(2);
    expect(await graph.createEntities([entity("Porto")])).toEqual([]);
    expect(await graph.createRelations([north])).toEqual([north]);
    expect(await graph.createRelations([north])).toEqual([]);
    await graph.addObservations(observations);
    expect(await graph.readGraph()).toEqual({
      entities: [
        entity("Lisbon", "has hills"),
        entity("Porto", "has a harbour", "rains, says Ada", "has bridges"),
        entity("Porto", "twin"),
      ],
      relations: [north],
    });
    const [kept] = await session.get([relationId(north)]);
    expect(kept?.content).toBe("[relation: Porto is north of Lisbon]\nrains, says Ada");
  });

  it("does not keep it from being deleted under its name", async () => {
    await graph.deleteRelations([north]);
    expect((await session.list()).items.map(({ id }) => id).sort()).toEqual([entityId("Lisbon"), porto].sort());
    await graph.deleteEntities(["Porto"]);
    expect((await session.list()).items.map(({ id }) => id)).toEqual([entityId("Lisbon")]);
  });

  it("loses no part of any type, nor an item whose metadata were replaced", async () => {
    const drawing = { type: "drawing", of: "a boat" };
    await session.update(porto, { content: [drawing, { type: "text", text: "by Ada" }] });
    await session.update(entityId("Lisbon"), { metadata: { mine: true } });
    expect(await names()).toEqual([]);
    await graph.createEntities([entity("Porto", "new"), entity("Lisbon", "new")]);
    expect((await graph.readGraph()).entities).toEqual([
      entity("Lisbon", "new", "has hills"),
      entity("Porto", "new", "by Ada"),
    ]);
    expect((await session.get([porto]))[0]?.parts).toContainEqual(drawing);
    expect((await session.get([entityId("Lisbon")]))[0]?.metadata).toMatchObject({ mine: true });
  });

  it("is overtaken by nobody unnoticed: the second to create the name finds it there, or creates it if it is gone", async () => {
    const late = new KnowledgeGraph(meanwhile("update", () => graph.createEntities([entity("Porto", "theirs")])));
    expect(await late.createEntities([entity("Porto", "mine"), entity("Faro")])).toEqual([entity("Faro")]);
    expect((await graph.openNodes(["Porto"])).entities).toEqual([entity("Porto", "theirs", "rains, says Ada")]);
    await session.update(porto, { content: "edited again" });
    const deleted = new KnowledgeGraph(meanwhile("update", () => graph.deleteEntities(["Porto"])));
    expect(await deleted.createEntities([entity("Porto", "mine")])).toEqual([entity("Porto", "mine")]);
    expect(await names()).toEqual(["Lisbon", "Faro", "Porto"]);
  });
});

describe("of two who meet", () => {
  it("the second to create a name finds it there, and creates the rest", async () => {
    for (const other of [entity("a"), entity("a", "other")]) {
      const late = new KnowledgeGraph(meanwhile("addItems", () => graph.createEntities([other])));
      expect(await late.createEntities([entity("a"), entity("a", "twin"), entity("b")])).toEqual([entity("b")]);
      expect((await graph.readGraph()).entities).toEqual([other, entity("b")]);
      await graph.deleteEntities(["a", "b"]);
    }
  });

  it("neither loses an observation", async () => {
    await graph.createEntities([entity("a", "old")]);
    const add = (contents: string[]) => [{ entityName: "a", contents }];
    const adding = new KnowledgeGraph(meanwhile("update", () => graph.addObservations(add(["theirs", "both"]))));
    expect(await adding.addObservations(add(["both", "mine"]))).toEqual([
      { entityName: "a", addedObservations: ["mine"] },
    ]);
    const taking = new KnowledgeGraph(meanwhile("update", () => graph.addObservations(add(["late"]))));
    await taking.deleteObservations([{ entityName: "a", observations: ["old"] }]);
    expect((await graph.readGraph()).entities).toEqual([entity("a", "theirs", "both", "mine", "late")]);
  });

  it("an observation fails if its entity is deleted concurrently", async () => {
    await graph.createEntities([entity("a")]);
    const adding = new KnowledgeGraph(meanwhile("update", () => graph.deleteEntities(["a"])));
    await expect(adding.addObservations([{ entityName: "a", contents: ["x"] }])).rejects.toThrow("name a not found");
    expect(await names()).toEqual([]);
  });

  it("a failure that is no meeting is passed on", async () => {
    const broken = new KnowledgeGraph(meanwhile("addItems", () => Promise.reject(new Error("disk"))));
    await expect(broken.createEntities([entity("a")])).rejects.toThrow("disk");
  });
});
