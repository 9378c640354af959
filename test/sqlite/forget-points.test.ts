/** Forgotten points leave the bytes of the files: vector, payload, id, and the name of an empty collection. */
import { type PutPointWrite, SqliteStore } from "holdfast/stores";
import { afterEach, expect, it } from "vitest";
import { bytesOfFiles, stillInFiles } from "../support/bytes.js";
import { newPath } from "../support/opened.js";
import { unsoundness } from "../support/raw.js";

const ADA = { user: "ada" } as const;
const NOW = Date.UTC(2026, 10, 15, 12);
const DIMENSIONS = 300;

const stores: SqliteStore[] = [];
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
});

async function opened(path: string): Promise<SqliteStore> {
  const store = await SqliteStore.open({ path, busyTimeoutMs: 10_000 });
  stores.push(store);
  return store;
}

/** A word that occurs nowhere else. Not one of them is part of another. */
const unique = (what: string, at: number): string => `zq${what}${(at * 7_919 + 104_729).toString(36)}xv${at}k`;

const vectorOf = (at: number): Float32Array =>
  Float32Array.from({ length: DIMENSIONS }, (_, index) => Math.sin(at * 1_000 + index));

function putting(at: number, collection: string, session?: string): PutPointWrite {
  return {
    ...{ op: "put_point", space: ADA, collection, id: unique("id", at), existing: "replace", vector: vectorOf(at) },
    ...(session !== undefined && { session }),
    payload: { text: unique("payload", at), more: "It is a long story. ".repeat(at % 300) },
  };
}

/** Bytes from the middle of a vector. */
const middleOf = (at: number): Buffer => Buffer.from(vectorOf(at).buffer, 400, 40);

async function commit(store: SqliteStore, ...writes: Parameters<SqliteStore["commit"]>[0][number]): Promise<void> {
  const { outcomes } = await store.commit([writes], NOW, "");
  expect(outcomes).toMatchObject([{ ok: true }]);
}

async function forget(store: SqliteStore, target: object): Promise<number> {
  let points = 0;
  for (let remaining = true; remaining; ) {
    const { outcomes } = await store.commit([[{ op: "forget", target } as never]], NOW, "");
    const [outcome] = outcomes;
    const [done] = outcome?.ok ? outcome.done : [];
    if (done?.op !== "forget") throw new Error("a forget was answered by something else");
    points += done.points;
    ({ remaining } = done);
  }
  return points;
}

const textsOf = (at: number): string[] => [unique("id", at), unique("payload", at)];
const vectorsIn = (path: string, ats: readonly number[]): number[] => {
  const bytes = bytesOfFiles(path);
  return ats.filter((at) => bytes.some((file) => file.includes(middleOf(at))));
};

it("takes points out of the files one by one, and the name of their collection with the last", async () => {
  const path = newPath();
  const store = await opened(path);
  const [gone, kept] = [unique("gone", 1), unique("kept", 2)];
  const ats = Array.from({ length: 200 }, (_, at) => at);
  await commit(store, ...ats.map((at) => putting(at, at % 2 === 0 ? gone : kept)));
  const doomed = ats.filter((at) => at % 2 === 0 || at < 50);
  const texts = [gone, ...doomed.flatMap(textsOf)];
  expect(stillInFiles(path, texts)).toEqual(texts);
  for (const at of doomed) {
    const points = { collection: at % 2 === 0 ? gone : kept, ids: [unique("id", at)] };
    expect(await forget(store, { space: ADA, points })).toBe(1);
  }
  expect(await store.purge(1000)).toEqual({ purged: true, left: [] });
  expect(stillInFiles(path, texts)).toEqual([]);
  expect(vectorsIn(path, doomed)).toEqual([]);
  const living = ats.filter((at) => !doomed.includes(at));
  expect(stillInFiles(path, [kept, ...living.flatMap(textsOf)])).toEqual([kept, ...living.flatMap(textsOf)]);
  expect(vectorsIn(path, living)).toEqual(living);
  await store.close();
  expect(unsoundness(path)).toEqual([]);
});

it("takes the points of a session and of a space out of the files, and counts them", async () => {
  const path = newPath();
  const store = await opened(path);
  const ats = Array.from({ length: 600 }, (_, at) => at);
  for (const at of ats)
    if (at % 100 === 0)
      await commit(store, ...ats.slice(at, at + 100).map((one) => putting(one, "c", one < 400 ? "s" : "t")));
  expect(await forget(store, { space: ADA, session: "s", entry: true })).toBe(400);
  expect(await store.purge(1000)).toEqual({ purged: true, left: [] });
  const of = ats.slice(0, 400);
  expect(stillInFiles(path, of.flatMap(textsOf))).toEqual([]);
  expect(vectorsIn(path, of)).toEqual([]);
  expect(vectorsIn(path, ats.slice(400))).toEqual(ats.slice(400));
  expect(await forget(store, { space: ADA, entry: true })).toBe(200);
  expect(await store.purge(1000)).toEqual({ purged: true, left: [] });
  expect(stillInFiles(path, ats.flatMap(textsOf))).toEqual([]);
  expect(vectorsIn(path, ats)).toEqual([]);
});
