/** Points and an external index: what a turn stores arrives there after the commit, and what is forgotten leaves it. */
import type { Memory } from "holdfast";
import { QdrantIndex } from "holdfast/qdrant";
import { HashEmbedder } from "holdfast/testing";
import { afterEach, beforeEach, expect, it } from "vitest";
import { newPath, open } from "../support/opened.js";
import { QdrantServer } from "../support/qdrant-server.js";
import { until } from "../support/until.js";

// A name that cannot be part of a hexadecimal id.
const ZELDA = { user: "zelda", session: "s" };

let server: QdrantServer;
let path: string;
beforeEach(async () => {
  server = await QdrantServer.start();
  path = newPath();
});
afterEach(() => server.close());

const opened = (): Promise<Memory> =>
  open({ path, embedder: new HashEmbedder(), vectorIndex: new QdrantIndex({ url: server.url }) });

async function store(memory: Memory, points: { readonly [id: string]: readonly number[] }): Promise<void> {
  const session = memory.session(ZELDA);
  const turn = session.turn();
  for (const [pointId, vector] of Object.entries(points)) {
    turn.push({ op: "store_embedding", collection: "my notes", pointId, vector, payload: { text: "secret" } });
  }
  await session.commit(turn);
}

const collection = "holdfast_points_holdfast_2";
const vectorsThere = (): (readonly number[])[] =>
  [...(server.collections.get(collection)?.points.values() ?? [])].map(({ vector }) =>
    vector.map((x) => +x.toFixed(5)),
  );
const sentAll = async (memory: Memory): Promise<boolean> => (await memory.stats()).store.unsent === 0;

it("receives what turns store, in a collection of its own, and nothing but numbers", async () => {
  const memory = await opened();
  await store(memory, { east: [3, 0], north: [0, 0.5] });
  await until(() => sentAll(memory));
  expect(vectorsThere().toSorted()).toEqual([
    [0, 1],
    [1, 0],
  ]);
  const said = JSON.stringify(server.requests.map(({ body }) => body));
  for (const text of ["secret", "my notes", "east", "zelda"]) expect(said).not.toContain(text);
  await store(memory, { east: [3, 4] });
  await until(() => sentAll(memory));
  expect(vectorsThere().toSorted()).toEqual([
    [0, 1],
    [0.6, 0.8],
  ]);
  await memory.session(ZELDA).points.delete("my notes", ["north"]);
  await until(() => sentAll(memory));
  expect(vectorsThere()).toEqual([[0.6, 0.8]]);
});

it("receives what was stored before it was attached, and what it could not take at first", async () => {
  const before = await open({ path, embedder: new HashEmbedder() });
  await store(before, { east: [1, 0] });
  await before.close();
  server.failNext(3, { kind: "status", status: 500 });
  const failing = await opened();
  await until(async () => (await failing.stats()).meaning?.index?.retries !== 0);
  await store(failing, { north: [0, 1] });
  expect(vectorsThere()).toEqual([]);
  expect((await failing.session(ZELDA).points.search("my notes", [0, 1])).map(({ id }) => id)).toEqual([
    "north",
    "east",
  ]);
  await failing.close();
  const memory = await opened();
  await until(() => sentAll(memory));
  expect(vectorsThere().toSorted()).toEqual([
    [0, 1],
    [1, 0],
  ]);
});

it("loses the points of a forgotten session, and the receipt says if it has not yet", async () => {
  const memory = await opened();
  await store(memory, { east: [1, 0], north: [0, 1] });
  await until(() => sentAll(memory));
  const release = server.stall();
  const receipt = await memory.session(ZELDA).forget();
  expect(receipt).toMatchObject({ points: 2, sessions: 1, purged: true });
  expect(receipt.left).toMatchObject([{ what: expect.stringContaining("vectors in qdrant") }]);
  release();
  await until(() => sentAll(memory));
  expect(vectorsThere()).toEqual([]);
});
