/** Points through the library: how much one call returns, what expires, and what other processes see. */
import type { Memory } from "holdfast";
import { FakeClock } from "holdfast/testing";
import { describe, expect, it } from "vitest";
import { newPath, open } from "../support/opened.js";

const ADA = { user: "ada", session: "s" };
const LONG = 65_536;

async function store(memory: Memory, ids: readonly string[], dimensions = 2): Promise<void> {
  const session = memory.session(ADA);
  const turn = session.turn();
  for (const [at, pointId] of ids.entries()) {
    const vector = Float32Array.from({ length: dimensions }, (_, index) => (index === at ? 1 : 0.001));
    turn.push({ op: "store_embedding", collection: "c", pointId, vector, payload: { at } });
  }
  await session.commit(turn);
}

const numbered = (count: number): string[] => Array.from({ length: count }, (_, at) => `p${at}`);

describe("long vectors", () => {
  it("are listed in pages of about a megabyte, and all are compared", async () => {
    const memory = await open({ path: ":memory:" });
    const ids = numbered(10);
    await store(memory, ids, LONG);
    const { points } = memory.session(ADA);
    const pages: string[][] = [];
    for (let cursor: string | undefined, isFirst = true; isFirst || cursor; isFirst = false) {
      const page = await points.list("c", { limit: 1000, ...(cursor !== undefined && { cursor }) });
      pages.push(page.items.map(({ id }) => id));
      cursor = page.next;
    }
    expect(pages.flat()).toEqual(ids);
    expect(pages.map(({ length }) => length)).toEqual([4, 4, 2]);
    const asked = new Float32Array(LONG).fill(0.001);
    asked[9] = 1;
    expect(await points.search("c", asked, { topK: 2 })).toMatchObject([{ id: "p9", payload: { at: 9 } }, {}]);
  });

  it("of more than 4 MiB are not read by one call, but deleted by one", async () => {
    const memory = await open({ path: ":memory:" });
    const ids = numbered(17);
    await store(memory, ids, LONG);
    const { points } = memory.session(ADA);
    expect(await points.get("c", ids.slice(1))).toHaveLength(16);
    await expect(points.get("c", ids)).rejects.toMatchObject({ code: "too_large", hint: expect.any(String) });
    expect(await points.delete("c", [...ids, "none"])).toMatchObject({ points: 17, missing: ["none"] });
  });
});

it("points go with the retention of their space", async () => {
  const clock = new FakeClock();
  const memory = await open({ path: ":memory:", clock });
  await store(memory, ["p"]);
  await memory.users.retain("ada", 1_000);
  expect((await memory.session(ADA).points.list("c")).items).toHaveLength(1);
  clock.advance(1_000);
  expect((await memory.session(ADA).points.list("c")).items).toEqual([]);
  await memory.service.sweep();
  await store(memory, ["q"], 3); // the collection is gone, too
});

it("a point that one process stores is found by others, and one that it deletes by none", async () => {
  const path = newPath();
  const [one, other] = [await open({ path }), await open({ path })];
  await store(one, ["p", "q"]);
  const found = async () => (await other.session(ADA).points.search("c", [1, 0])).map(({ id }) => id);
  expect(await found()).toEqual(["p", "q"]);
  await one.session(ADA).points.delete("c", ["p"]);
  expect(await found()).toEqual(["q"]);
  await other.forget({ user: "ada" });
  expect((await one.session(ADA).points.list("c")).items).toEqual([]);
});

it("deleting a point is not reported as forgetting the space", async () => {
  const memory = await open({ path: ":memory:" });
  await store(memory, ["p"]);
  const told: string[] = [];
  memory.events.subscribe(({ type }) => void told.push(type));
  await memory.session(ADA).points.delete("c", ["p"]);
  await memory.session(ADA).add([{ role: "user", content: "after" }]);
  expect(told).not.toContain("forgotten");
});
