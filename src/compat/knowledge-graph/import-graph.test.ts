/** The reference server's memory file: imported, merged, repeated, damaged, and exported again. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Memory, openMemory } from "../../memory.js";
import { exportGraphLines } from "./export-graph.js";
import { importGraph } from "./import-graph.js";
import { KnowledgeGraph } from "./knowledge-graph.js";

let memory: Memory;
beforeEach(async () => {
  memory = await openMemory({ path: ":memory:", buffer: { hybridBuffer: { embeddingModel: "none" } } });
});
afterEach(() => memory.close());

const ada = () => memory.session({ user: "ada" });
const entity = (name: string, observations: readonly string[] = [], entityType = "thing"): string =>
  JSON.stringify({ type: "entity", name, entityType, observations });
const relation = (from: string, to: string): string =>
  JSON.stringify({ type: "relation", from, to, relationType: "knows" });

async function exported(): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const line of exportGraphLines(ada())) lines.push(line);
  return lines;
}

describe("an import of a memory file", () => {
  it("gives the same lines back, in order, with duplicates; a second import changes nothing", async () => {
    const many = Array.from({ length: 400 }, (_, at) => entity(`e${at}`, [`o${at}`, "x", "x"]));
    const lines = [
      ...[...many, entity("e3", ["twin"], "other"), entity("", ["\u0000 \ud800 \u2028"]), entity("e3")],
      ...[relation("e1", "e2"), relation("e1", "nobody"), relation("e1", "e2")],
    ];
    const counts = { lines: 406, observations: 0, skipped: 0, unread: [] };
    expect(await importGraph(ada(), lines)).toEqual({ ...counts, entities: 403, relations: 3, repeated: 0 });
    expect(await exported()).toEqual(lines);
    expect(await importGraph(ada(), lines)).toEqual({ ...counts, entities: 0, relations: 0, repeated: 406 });
    expect(await exported()).toEqual(lines);
  });

  it("gives entities that are there what they lack, and leaves the rest of them as it is", async () => {
    const graph = new KnowledgeGraph(ada());
    await graph.createEntities([{ name: "a", entityType: "mine", observations: ["1", "2"] }]);
    const lines = [entity("b"), entity("a", ["2", "3"]), entity("a", ["twin"]), relation("a", "b")];
    expect(await importGraph(ada(), lines)).toMatchObject({ entities: 2, relations: 1, observations: 1, repeated: 0 });
    expect(await exported()).toEqual([
      entity("a", ["1", "2", "3"], "mine"),
      entity("b"),
      entity("a", ["twin"]),
      relation("a", "b"),
    ]);
  });

  it("leaves out what cannot be read, and says which lines and why, without their content", async () => {
    const lines = [
      `\uFEFF${entity("a")}`,
      "",
      '{"type":"entity","name":"secret',
      "[]",
      '{"type":"note","text":"secret"}',
      '{"type":"entity","name":7,"entityType":"secret"}',
      '{"type":"relation","from":"a","to":"secret"}',
      '{"type":"entity","name":"b","entityType":"t","createdAt":1}',
      relation("a", "b"),
    ];
    const report = await importGraph(ada(), lines);
    expect(report).toMatchObject({ lines: 9, entities: 2, relations: 1, skipped: 5 });
    expect(report.unread).toEqual([
      { line: 3, why: "it is not valid JSON" },
      { line: 4, why: "it is not a JSON object" },
      { line: 5, why: "its type is neither entity nor relation" },
      { line: 6, why: "the entity.name must be a string, got a number" },
      { line: 7, why: "the relation.relationType must be a string, got undefined" },
    ]);
    expect(await exported()).toEqual([entity("a"), entity("b", [], "t"), relation("a", "b")]);
    const noise = await importGraph(
      ada(),
      Array.from({ length: 150 }, () => "noise"),
    );
    expect([noise.skipped, noise.unread.length]).toEqual([150, 100]);
  });

  it("creates an entity again if an edit has turned its item into something else, and keeps the edit", async () => {
    await importGraph(ada(), [entity("a", ["x"]), relation("a", "b")]);
    const { items } = await ada().list();
    for (const { id } of items) await ada().update(id, { content: "edited" });
    expect(await exported()).toEqual([]);
    const report = await importGraph(ada(), [entity("a", ["y"]), relation("a", "b")]);
    expect(report).toMatchObject({ entities: 1, relations: 1, observations: 0, repeated: 0, skipped: 0 });
    expect(await exported()).toEqual([entity("a", ["y", "edited"]), relation("a", "b")]);
  });

  it("counts as left out what somebody deletes while it is being merged", async () => {
    const session = ada();
    await importGraph(session, [entity("a")]);
    let reads = 0;
    const get: typeof session.get = async (ids) => {
      if (++reads === 2) await session.delete(ids); // present in the first read, gone in the second
      return session.get(ids);
    };
    const { scope, addItems, list, update } = session;
    const bound = {
      ...{ scope, get, delete: session.delete.bind(session) },
      ...{ addItems: addItems.bind(session), list: list.bind(session), update: update.bind(session) },
    };
    expect(await importGraph(bound, [entity("a", ["x"])])).toMatchObject({ skipped: 1, entities: 0, observations: 0 });
  });

  it("says what it has done when it is stopped: by a signal, or by what is too large", async () => {
    const many = Array.from({ length: 300 }, (_, at) => entity(`e${at}`));
    const stop = new AbortController();
    async function* stopped(): AsyncGenerator<string> {
      yield* many;
      stop.abort(new Error("enough"));
      yield entity("late");
    }
    await expect(importGraph(ada(), stopped(), { signal: stop.signal })).rejects.toThrow("enough");
    const huge = importGraph(ada(), [...many, entity("huge", ["x".repeat(9_000_000)])]);
    await expect(huge).rejects.toMatchObject({
      code: "too_large",
      message: expect.stringContaining("(after line 301)"),
      details: { report: { lines: 301, entities: 44, repeated: 256 } },
    });
    expect((await exported()).length).toBe(300);
  });
});
