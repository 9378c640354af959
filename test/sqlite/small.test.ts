/** Small spaces: words are searched on the main thread, of vectors the thread gives numbers alone. The answers are the same. */
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import type { Reader as ReaderOf } from "../../dist/stores/sqlite/reader.js";
import type { VectorReader as VectorReaderOf } from "../../dist/stores/sqlite/vector-reader.js";
import { newPath } from "../support/opened.js";
import { Random, testSeed } from "../support/random.js";
import { root } from "../support/root.js";
import { Embedding, NOW, newRow, RandomVectors } from "./embedding.js";

const part = async (name: string): Promise<unknown> =>
  import(pathToFileURL(join(root, `dist/stores/sqlite/${name}.js`)).href);
const { Reader } = (await part("reader")) as { readonly Reader: typeof ReaderOf };
const { VectorReader } = (await part("vector-reader")) as { readonly VectorReader: typeof VectorReaderOf };

const MIB = 1024 * 1024;
const DIMENSIONS = 8;
const ADA = { user: "ada" };
const LANE = { space: ADA, session: "s" };

const open: { close(): void }[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});

interface Desk {
  readonly embedding: Embedding;
  readonly here: ReaderOf;
  readonly thread: VectorReaderOf;
  readonly vectors: RandomVectors;
  /** The nearest to a question, asked of the thread alone. */
  ask(vector: Float32Array, limit: number, now?: number): Parameters<VectorReaderOf["searchVectors"]>[0];
}

/** So many embedded items of one session. */
async function desk(items: number): Promise<Desk> {
  const path = newPath();
  const embedding = await Embedding.open(path, DIMENSIONS);
  const vectors = new RandomVectors(items, DIMENSIONS);
  const rows = Array.from({ length: items }, (_, at) => ({ id: `i${at}`, content: `river ${at}` }));
  await embedding.add(LANE, rows);
  await embedding.embed(LANE, () => vectors.next(2));
  const here = new Reader(path, "reader", { bytes: 32 * MIB });
  const thread = new VectorReader({ path, busyTimeoutMs: 1_000, mirrorBytes: 32 * MIB });
  open.push(here, thread);
  const { vectorSpace } = embedding;
  const ask = (vector: Float32Array, limit: number, now = NOW) => ({
    ...{ spaces: [ADA], vectorSpace, vector, filter: {}, limit, now, estimates: true },
  });
  await thread.searchVectors(ask(vectors.next(), 1)); // loads the mirror
  here.searchWords({ spaces: [ADA], terms: ["river"], filter: {}, limit: 1, now: NOW });
  while (here.rosterBytes() === undefined) await turn();
  return { embedding, here, thread, vectors, ask };
}

describe("the nearest of a small space, as numbers", () => {
  it("are with what is at hand the same as the thread finds by itself, whatever has changed", async () => {
    const seed = testSeed("small");
    const random = new Random(seed);
    const { embedding, here, thread, vectors, ask } = await desk(150);
    let referred = 0;
    let count = 150;
    let now = NOW;
    for (let step = 0; step < 150; step++) {
      const id = `i${random.between(0, count - 1)}`;
      const kind = random.pick(["add", "edit", "expire", "forget", "time", "time"]);
      if (kind === "add") await embedding.add(LANE, [{ id: `i${count++}`, content: "river" }]);
      if (kind === "forget") await embedding.forget({ space: ADA, ids: [id] });
      if (kind === "time") now += random.between(1, 50);
      const [known] = await embedding.store.get([ADA], [id], now);
      if (known && kind === "edit")
        await embedding.unit({ op: "update", space: ADA, id, patch: { content: "lake", parts: null } });
      if (known && kind === "expire")
        await embedding.unit({ op: "update", space: ADA, id, patch: { expiresAt: now + 60 } });
      if (random.chance(0.7)) await embedding.embed(LANE, () => vectors.next(random.between(1, 3)));
      const request = ask(vectors.next(), random.pick([1, 10, 40, 500]), now);
      const expected = await thread.searchVectors(request);
      const nearest = await thread.nearest(request);
      const found = nearest && here.refer(request, nearest);
      if (found) expect(found, `seed ${seed}, step ${step}`).toEqual(expected);
      referred += found ? 1 : 0;
    }
    expect(referred).toBeGreaterThan(20);
  });

  it("do not count if something was committed since, nor if one of them may not be seen any more", async () => {
    const { embedding, here, thread, vectors, ask } = await desk(70);
    const request = ask(vectors.next(), 5);
    const nearest = await thread.nearest(request);
    if (!nearest) throw new Error("the space is small and loaded");
    expect(here.refer(request, nearest)).toHaveLength(5);
    const [best] = await thread.searchVectors(request);
    await embedding.unit({ op: "update", space: ADA, id: String(best?.id), patch: { expiresAt: NOW + 10 } });
    expect(here.refer(request, nearest), "it was another version").toBeUndefined();
    const later = await thread.nearest(request);
    expect(later && here.refer(request, later)).toHaveLength(5);
    expect(later && here.refer({ ...request, now: NOW + 10 }, later), "it has expired").toBeUndefined();
  });

  it("are not told of a large space, of another model, or where vectors are not loaded", async () => {
    const { embedding, thread, vectors, ask } = await desk(70);
    const request = ask(vectors.next(), 5);
    const other = { ...request.vectorSpace, model: "other" };
    expect(await thread.nearest({ ...request, vectorSpace: other })).toBeUndefined();
    const bob = { space: { user: "bob" }, session: "s" };
    for (let at = 0; at < 5_000; at += 250) {
      const items = Array.from({ length: 250 }, (_, place) => newRow({ id: `b${at + place}`, content: "sea" }));
      await embedding.unit({ op: "add", ...bob, items, existing: "same" });
    }
    await embedding.embed(bob, () => vectors.next());
    expect(await thread.nearest({ ...request, spaces: [bob.space] }), "not loaded").toBeUndefined();
    expect(await thread.searchVectors({ ...request, spaces: [bob.space] })).toHaveLength(5);
    expect(await thread.nearest({ ...request, spaces: [bob.space] }), "too large").toBeUndefined();
  });
});

it("a space that is not at hand is left to the thread, and at hand soon", async () => {
  const path = newPath();
  const embedding = await Embedding.open(path, DIMENSIONS);
  await embedding.add(
    LANE,
    Array.from({ length: 70 }, (_, at) => ({ id: `i${at}`, content: `river ${at}` })),
  );
  const here = new Reader(path, "reader", { bytes: MIB, itemsMax: 100 });
  open.push(here);
  const request = { spaces: [ADA], terms: ["river"], filter: {}, limit: 3, now: NOW };
  expect(here.searchAtHand(request, false)).toBeUndefined();
  expect(here.searchAtHand(request, true), "unless the file may be read").toHaveLength(3);
  while (here.rosterBytes() === undefined) await turn();
  expect(here.searchAtHand(request, false)).toHaveLength(3);
  expect(
    here.searchAtHand({ ...request, filter: { roles: ["tool"] } }, true),
    "the file judges filters",
  ).toBeUndefined();
  await embedding.add(
    LANE,
    Array.from({ length: 40 }, (_, at) => ({ id: `j${at}`, content: "river" })),
  );
  expect(here.searchAtHand(request, false), "it has a roster already").toHaveLength(3);
});

it("much to look up, and long documents, are left to the thread", async () => {
  const path = newPath();
  const embedding = await Embedding.open(path, DIMENSIONS);
  await embedding.add(LANE, [{ id: "a", content: "river" }]);
  const here = new Reader(path, "reader", { bytes: MIB });
  open.push(here);
  const search = (terms: number, isFirst = false) => {
    const wanted = ["river", ...Array.from({ length: terms - 1 }, (_, at) => `word${at}`)];
    return here.searchAtHand({ spaces: [ADA], terms: wanted, filter: {}, limit: 3, now: NOW }, isFirst)?.length;
  };
  expect([search(64), search(65), search(65, true)]).toEqual([1, undefined, undefined]);
  const words = Array.from({ length: 60_000 }, (_, at) => `w${at}`).join(" ");
  for (let at = 0; at < 5; at++) await embedding.add(LANE, [{ id: `long${at}`, content: words }]);
  expect([search(1), search(1, true)]).toEqual([undefined, undefined]);
});
