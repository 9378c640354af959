/** Forgotten blocks leave the bytes of the files: every version, name, description, reason and actor. */
import { type Block, type PutBlockWrite, SqliteStore } from "holdfast/stores";
import { afterEach, expect, it } from "vitest";
import { stillInFiles } from "../support/bytes.js";
import { newPath } from "../support/opened.js";
import { unsoundness } from "../support/raw.js";

const ADA = { user: "ada" } as const;
const BOB = { user: "bob" } as const;
const NOW = Date.UTC(2026, 10, 15, 12);

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

const WHATS = ["content", "name", "description", "reason", "actor"] as const;

/** All the texts of a version. */
const textsOf = (at: number): string[] => WHATS.map((what) => unique(what, at));

function putting(space: PutBlockWrite["space"], id: string, expect: number, at: number): PutBlockWrite {
  const [content = "", name = "", description = "", reason = "", actor = ""] = textsOf(at);
  const text = `We keep ${content} in mind.${" It is a long story.".repeat(at % 20)}`;
  const settings = { maxTokens: 4096, counter: "chars4", policy: "refuse", readOnly: false } as const;
  return {
    op: "put_block",
    space,
    id,
    expect,
    state: { name, content: text, description, ...settings },
    reason,
    actor,
  };
}

async function commit(store: SqliteStore, ...writes: Parameters<SqliteStore["commit"]>[0][number]): Promise<void> {
  const { outcomes } = await store.commit([writes], NOW, "");
  expect(outcomes).toMatchObject([{ ok: true }]);
}

const contents = (blocks: readonly Block[]): string[] => blocks.map(({ content }) => content);

it("takes a block with all its versions out of the files, and leaves the others", async () => {
  const path = newPath();
  const store = await opened(path);
  for (let at = 0; at < 30; at++) {
    await commit(store, putting(ADA, "block-to-forget", at, at), putting(ADA, "block-to-keep", at, 1000 + at));
  }
  const gone = [...Array.from({ length: 30 }, (_, at) => textsOf(at)).flat(), "block-to-forget"];
  expect(stillInFiles(path, gone)).toEqual(gone);
  await commit(store, { op: "forget", target: { space: ADA, block: "block-to-forget" } });
  expect(await store.purge(1000)).toEqual({ purged: true, left: [] });
  expect(stillInFiles(path, gone)).toEqual([]);
  const kept = Array.from({ length: 30 }, (_, at) => textsOf(1000 + at)).flat();
  expect(stillInFiles(path, kept)).toEqual(kept);
  expect(contents(await store.blocks({ spaces: [ADA] }))).toEqual([expect.stringContaining(unique("content", 1029))]);
});

it("takes all blocks of a space out of the files", async () => {
  const path = newPath();
  const store = await opened(path);
  for (let at = 0; at < 200; at++) await commit(store, putting(ADA, `id-of-hers-${at}`, 0, at));
  await commit(store, putting(BOB, "id-of-his", 0, 1000));
  const gone = Array.from({ length: 200 }, (_, at) => [...textsOf(at), `id-of-hers-${at}`]).flat();
  expect(stillInFiles(path, gone)).toEqual(gone);
  await commit(store, { op: "forget", target: { space: ADA, entry: true } });
  expect(await store.purge(1000)).toEqual({ purged: true, left: [] });
  expect(stillInFiles(path, gone)).toEqual([]);
  expect(stillInFiles(path, textsOf(1000))).toEqual(textsOf(1000));
});

it("finds and removes copies that page splits leave in the file", async () => {
  const path = newPath();
  const store = await opened(path);
  const live = new Map<string, number[]>();
  const gone: string[] = [];
  let seed = 42;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return (seed >>> 8) % below;
  };
  // Without a look at the bytes this leaves 8 texts behind.
  for (let at = 0; at < 1200; at++) {
    const isNew = live.size < 200 || random(3) === 0;
    const id = isNew ? `id-${random(1e9)}-${at}k` : ([...live.keys()][random(live.size)] ?? "");
    const versions = live.get(id) ?? [];
    await commit(store, putting(ADA, id, versions.length, at));
    live.set(id, [...versions, at]);
    if (random(3) > 0) continue;
    const doomed = [...live.keys()][random(live.size)] ?? "";
    await commit(store, { op: "forget", target: { space: ADA, block: doomed } });
    gone.push(doomed, ...(live.get(doomed) ?? []).flatMap(textsOf));
    live.delete(doomed);
  }
  expect(await store.purge(1000)).toEqual({ purged: true, left: [] });
  expect(stillInFiles(path, gone)).toEqual([]);
  expect(await store.blocks({ spaces: [ADA] })).toHaveLength(live.size);
  await store.close();
  expect(unsoundness(path)).toEqual([]);
});

it("takes the ledger of a forgotten session out of the files", async () => {
  const path = newPath();
  const store = await opened(path);
  const put = Array.from({ length: 500 }, (_, at) => ({ ref: unique("ref", at), version: 1, tokens: 1 }));
  const ledger = { op: "ledger", space: ADA, reset: false, drop: [], saved: 0 } as const;
  await commit(store, { ...ledger, session: "gone", put: put.slice(0, 250) });
  await commit(store, { ...ledger, session: "kept", put: put.slice(250) });
  await commit(store, { op: "forget", target: { space: ADA, session: "gone", entry: true } });
  expect(await store.purge(1000)).toEqual({ purged: true, left: [] });
  const left = stillInFiles(
    path,
    put.map(({ ref }) => ref),
  );
  expect(left).toEqual(put.slice(250).map(({ ref }) => ref));
});
