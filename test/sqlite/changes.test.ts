/** What a file remembers of changes, and when it says that it does not any more. */
import { describe, expect, it } from "vitest";
import { alter, newPath } from "../support/opened.js";
import { unsoundness } from "../support/raw.js";
import { Embedding, NOW } from "./embedding.js";

const ADA = { user: "ada" };
const BOB = { user: "bob" };

describe("changes that were trimmed", () => {
  it("are reported as missing to readers that need them, and to no others", async () => {
    const path = newPath();
    const before = await Embedding.open(path, 4);
    for (const space of [ADA, BOB])
      await before.add(
        { space },
        ["a", "b", "c"].map((id) => ({ id, content: id })),
      );
    const [early, his] = await before.store.versions([ADA, BOB]);
    await before.unit({ op: "update", space: ADA, id: "a", patch: { content: "edited" } });
    const [middle] = await before.store.versions([ADA]);
    await before.forget({ space: ADA, ids: ["b"] });
    const [late] = await before.store.versions([ADA]);
    const cursors = [early, middle, late].map((since) => ({ space: ADA, since }));
    const told = async ({ store }: Embedding) =>
      (await store.changes([...cursors, { space: BOB, since: his }])).map(({ changed, removed, complete }) => ({
        changed: changed.map(({ id }) => id),
        removed: removed.reduce((sum, { items }) => sum + items, 0),
        complete,
      }));
    const nothing = { changed: [], removed: 0, complete: true };
    await before.store.maintain(NOW);
    expect(await told(before), "nothing is old yet").toEqual([
      { changed: ["a"], removed: 1, complete: true },
      { changed: [], removed: 1, complete: true },
      nothing,
      nothing,
    ]);
    await before.store.close();
    alter(path, "UPDATE head SET commit_no = commit_no + 100000");
    const after = await Embedding.open(path, 4);
    await after.store.maintain(NOW);
    expect((await told(after)).map(({ complete }) => complete)).toEqual([false, false, true, true]);
    await after.unit({ op: "update", space: ADA, id: "c", patch: { content: "edited" } });
    expect((await told(after)).slice(2)).toEqual([{ changed: ["c"], removed: 0, complete: true }, nothing]);
    await after.store.close();
    expect(unsoundness(path)).toEqual([]);
  });
});

it("more changes than fit into one answer are reported as incomplete, and take no longer", async () => {
  const embedding = await Embedding.open(newPath(), 4);
  const add = (from: number, count: number) =>
    embedding.add(
      { space: ADA },
      Array.from({ length: count }, (_, at) => ({ id: `m${from + at}`, content: "x" })),
    );
  await add(0, 5);
  const [since] = await embedding.store.versions([ADA]);
  await add(5, 10_000);
  const [full] = await embedding.store.changes([{ space: ADA, since }]);
  expect([full?.changed.length, full?.complete]).toEqual([10_000, true]);
  await embedding.unit({ op: "update", space: ADA, id: "m0", patch: { content: "edited" } });
  const [over] = await embedding.store.changes([{ space: ADA, since }]);
  expect([over?.changed.length, over?.complete]).toEqual([10_000, false]);
  const [all] = await embedding.store.changes([{ space: ADA }]);
  expect([all?.changed.length, all?.complete]).toEqual([10_000, false]);
  const [rest] = await embedding.store.changes([{ space: ADA, since: full?.version }]);
  expect(rest).toMatchObject({ changed: [{ id: "m0", version: 2 }], removed: [], complete: true });
});
