/** A storage thread dies in the middle of a commit: the service finds out whether it was committed, and continues. */
import { type Memory, openMemory } from "holdfast";
import { SqliteStore } from "holdfast/stores";
import { describe, expect, it, vi } from "vitest";
import { newPath, open } from "../support/opened.js";

describe("a storage thread that dies", () => {
  it.each([0, 1, 2, 3, 5, 8])("%s turns after a commit began loses nothing and doubles nothing", async (turns) => {
    const path = newPath();
    const opened: SqliteStore[] = [];
    const original = SqliteStore.open.bind(SqliteStore);
    const spy = vi.spyOn(SqliteStore, "open").mockImplementation(async (options) => {
      const store = await original(options);
      opened.push(store);
      return store;
    });
    const memory: Memory = await openMemory({ path });
    spy.mockRestore();
    const session = memory.session({ user: "ada", session: "s" });
    await session.add([{ role: "user", content: "before" }]);
    const adds = Promise.all(
      Array.from({ length: 10 }, (_, at) => session.add([{ role: "user", content: `during ${at}` }])),
    );
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
    await opened[0]?.reopen(); // ends the threads at once, whatever they are doing
    const answers = await adds;
    expect(answers.flatMap(({ sequences }) => sequences).sort((a, b) => a - b)).toEqual([
      2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
    ]);
    await session.add([{ role: "user", content: "after" }]);
    expect((await session.list({ limit: 100 })).items).toHaveLength(12);
    await memory.close();
    const again = await open({ path });
    const hits = await again.session({ user: "ada" }).query("during", { topK: 50 });
    expect(hits.filter(({ content }) => content.startsWith("during"))).toHaveLength(10);
  });
});
