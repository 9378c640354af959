/** Facts leave the bytes of the files with the last thing that they rest on. */
import { existsSync, readFileSync } from "node:fs";
import { type PutFactWrite, SqliteStore, type Write } from "holdfast/stores";
import { afterEach, describe, expect, it } from "vitest";
import { newPath } from "../support/opened.js";
import { openRaw } from "../support/raw.js";

const NOW = Date.UTC(2026, 10, 15, 12);
const ADA = { user: "ada" };
const CREW = { team: "crew" };

/** A word that occurs nowhere else, long enough to be looked for. */
const unique = (at: number): string => `zq${(at * 7_919 + 104_729).toString(36)}xv${at.toString(36).padStart(4, "0")}k`;

/** Which of the texts can still be read in the files, as they are or folded to lower case. */
function stillInFiles(path: string, texts: readonly string[]): string[] {
  const bytes = ["", "-wal", "-shm"].flatMap((suffix) => {
    const file = path + suffix;
    return existsSync(file) ? [readFileSync(file)] : [];
  });
  return texts.filter((text) => bytes.some((file) => file.includes(text) || file.includes(text.toLowerCase())));
}

const stores: SqliteStore[] = [];
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
});

async function open(path: string): Promise<SqliteStore> {
  const store = await SqliteStore.open({ path, busyTimeoutMs: 10_000 });
  stores.push(store);
  return store;
}

async function write(store: SqliteStore, ...writes: Write[]) {
  const { outcomes } = await store.commit([writes], NOW, "");
  if (!outcomes[0]?.ok) throw new Error(JSON.stringify(outcomes[0]?.error));
  return outcomes[0].done;
}

async function forget(store: SqliteStore, ids: readonly string[]) {
  let facts = 0;
  for (let remaining = true; remaining; ) {
    const [done] = await write(store, { op: "forget", target: { space: ADA, ids } });
    if (done?.op !== "forget") throw new Error("a forget was answered by something else");
    facts += done.facts;
    remaining = done.remaining;
  }
  expect(await store.purge(5_000)).toEqual({ purged: true, left: [] });
  return facts;
}

const said = (at: number): Write => ({
  op: "add",
  space: ADA,
  session: "s",
  existing: "same",
  items: [
    {
      id: `message-${unique(at)}`,
      kind: "message",
      role: "user",
      content: `We spoke of ${unique(at)}.`,
      metadata: {},
      tier: "episodic",
      occurredAt: NOW,
    },
  ],
});

/** Three unique words: in its id, its category and its content, far from those of the message. */
const wordsOf = (at: number): string[] => [1, 2, 3].map((part) => unique(at * 10 + 100_000 + part));

function fact(at: number, more: Partial<PutFactWrite> = {}): PutFactWrite {
  const [id, category, word] = wordsOf(at);
  return {
    op: "put_fact",
    space: ADA,
    id: `fact-${id}`,
    category: `category ${category}`,
    content: `Ada likes ${word}${" very much".repeat(at % 30)}.`,
    confidence: 0.5,
    source: { message: `message-${unique(at)}` },
    from: NOW,
    supersedes: [],
    force: false,
    ...more,
  };
}

const ending = (at: number, as: "ended" | "retracted"): Write => ({
  op: "end_fact",
  space: ADA,
  id: fact(at).id,
  as,
  at: NOW + 1,
});

describe("a fact that was written under an idempotency key", () => {
  it("leaves neither its id nor the hash of the request, whether it was recorded, ended or superseded", async () => {
    const path = newPath();
    const store = await open(path);
    const hashOf = (at: number, part: number): string => unique(at * 10 + 500_000 + part);
    const once = (at: number, part: number) =>
      ({ op: "once", space: ADA, key: `key ${at} ${part}`, hash: hashOf(at, part) }) as const;
    for (let at = 0; at < 60; at++) {
      await write(store, said(at));
      await write(store, once(at, 0), fact(at));
      if (at % 3 === 1) await write(store, once(at, 1), ending(at, "ended"));
      if (at % 3 === 2) await write(store, once(at, 1), fact(at + 1_000, { supersedes: [fact(at).id], source: {} }));
    }
    const going = Array.from({ length: 30 }, (_, at) => 2 * at);
    const ids = going.map((at) => fact(at).id);
    const hashes = going.flatMap((at) => [hashOf(at, 0), ...(at % 3 === 0 ? [] : [hashOf(at, 1)])]);
    expect(stillInFiles(path, [...ids, ...hashes])).toHaveLength(ids.length + hashes.length);
    expect(await forget(store, ids)).toBe(30);
    expect(stillInFiles(path, [...ids, ...hashes])).toEqual([]);
    // Nothing comes back by a late retry.
    expect(await write(store, once(0, 0), fact(0))).toMatchObject([{ first: [{ op: "put_fact", id: "" }] }]);
    expect(stillInFiles(path, ids)).toEqual([]);
  });
});

describe("a fact that is forgotten with its message", () => {
  it("leaves no bytes, whether it held, had ended or was retracted", async () => {
    const path = newPath();
    const store = await open(path);
    for (let at = 0; at < 60; at++) {
      await write(store, said(at), fact(at));
      if (at % 3 === 1) await write(store, ending(at, "ended"));
      if (at % 3 === 2) await write(store, ending(at, "retracted"));
      if (at % 6 === 4) await write(store, fact(at, { confidence: 1 }));
    }
    const going = Array.from({ length: 60 }, (_, at) => at).filter((at) => at % 2 === 0);
    const staying = Array.from({ length: 60 }, (_, at) => at).filter((at) => at % 2 === 1);
    const all = going.flatMap((at) => [unique(at), ...wordsOf(at)]);
    expect(stillInFiles(path, all)).toHaveLength(all.length);
    expect(
      await forget(
        store,
        going.map((at) => `message-${unique(at)}`),
      ),
    ).toBe(30);
    expect(stillInFiles(path, all)).toEqual([]);
    expect(stillInFiles(path, staying.flatMap(wordsOf))).toHaveLength(90);
    const states = ["holds", "ended", "retracted"] as const;
    expect((await store.facts({ spaces: [ADA], states, limit: 100, now: NOW })).items).toHaveLength(30);
  });

  it("leaves no bytes of its id in what it superseded, nor in a fact that rests on others too", async () => {
    const path = newPath();
    const store = await open(path);
    for (let at = 0; at < 3; at++) await write(store, said(at));
    await write(store, fact(0), fact(1, { supersedes: [fact(0).id] }));
    await write(store, fact(2), fact(2, { source: { message: fact(1).id } }));
    expect(await forget(store, [`message-${unique(1)}`])).toBe(1);
    expect(stillInFiles(path, [unique(1), ...wordsOf(1)])).toEqual([]);
    expect(stillInFiles(path, [...wordsOf(0), ...wordsOf(2)])).toHaveLength(6);
  });

  it("leaves no bytes also if another handle has ended it, long ago", async () => {
    const path = newPath();
    const first = await open(path);
    await write(first, said(0), fact(0), said(1), fact(1));
    await write(first, ending(0, "ended"));
    await first.close();
    stores.splice(0);
    const second = await open(path);
    expect(await forget(second, [fact(0).id])).toBe(1);
    expect(stillInFiles(path, wordsOf(0))).toEqual([]);
    expect(stillInFiles(path, wordsOf(1))).toHaveLength(3);
  });

  it("leaves its copies, and the log of a space goes with the space", async () => {
    const path = newPath();
    const store = await open(path);
    const [reason, actor] = [unique(900_001), unique(900_002)];
    await write(store, said(0), fact(0));
    await write(store, { op: "promote", from: ADA, to: CREW, ids: [fact(0).id], reason, actor });
    expect(await forget(store, [`message-${unique(0)}`])).toBe(1);
    expect(stillInFiles(path, [unique(0)])).toEqual([]);
    expect(stillInFiles(path, wordsOf(0))).toHaveLength(3);
    const put = [{ ref: fact(0).id, version: 1, tokens: 1 }];
    await write(store, { op: "ledger", space: CREW, session: "s", reset: false, drop: [], put, saved: 0 });
    await write(store, { op: "forget", target: { space: CREW, entry: true } });
    expect(await store.purge(5_000)).toEqual({ purged: true, left: [] });
    expect(stillInFiles(path, [...wordsOf(0), reason, actor])).toEqual([]);
    const raw = openRaw(path);
    for (const table of ["fact", "fact_span", "fact_source", "promotion", "copy", "ledger"]) {
      expect(raw.prepare(`SELECT count(*) AS n FROM ${table}`).get(), table).toEqual({ n: 0 });
    }
    raw.close();
  });
});
