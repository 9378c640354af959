/** Forgotten data is removed from every answer, every table, and the bytes of the files. */
import { existsSync, readFileSync } from "node:fs";
import type { Memory, NewMessage } from "holdfast";
import { describe, expect, it } from "vitest";
import { alter, newPath, open } from "../support/opened.js";
import { openRaw } from "../support/raw.js";

/** Which of the texts can still be read in the files, as they are or folded to lower case. */
function stillInFiles(path: string, texts: readonly string[]): string[] {
  const bytes = ["", "-wal", "-shm"].flatMap((suffix) => {
    const file = path + suffix;
    return existsSync(file) ? [readFileSync(file)] : [];
  });
  return texts.filter((text) => bytes.some((file) => file.includes(text) || file.includes(text.toLowerCase())));
}

/** A word that occurs nowhere else, long enough to be looked for. */
const unique = (at: number): string => `zq${(at * 7_919 + 104_729).toString(36)}xv${at.toString(36).padStart(4, "0")}k`;

const message = (at: number): NewMessage => ({
  role: at % 2 ? "assistant" : "user",
  name: `Name${unique(at)}`,
  content: `We spoke of ${unique(at)} and of the weather${" in Lisbon".repeat(at % 40)}.`,
  metadata: { ticket: `T-${unique(at)}` },
});

async function fill(memory: Memory, scope: { user: string; session?: string }, from: number, count: number) {
  const rounds = Array.from({ length: count }, (_, at) => [message(from + at)]);
  const added = await memory.session(scope).addBatch(rounds);
  return added.flatMap(({ ids }) => ids);
}

const contents = async (hits: Promise<readonly { content: string }[]>) => (await hits).map(({ content }) => content);

describe("forget", () => {
  it("takes single messages out of get, list, query and the bytes of the files", async () => {
    const path = newPath();
    const memory = await open({ path });
    const session = memory.session({ user: "ada", session: "s" });
    const ids = await fill(memory, { user: "ada", session: "s" }, 0, 60);
    expect(stillInFiles(path, [unique(7)])).toHaveLength(1);
    const receipt = await session.delete([ids[7] as string, ids[31] as string, "never-there"]);
    expect(receipt).toMatchObject({ items: 2, missing: ["never-there"], purged: true, left: [] });
    expect(await session.get([ids[7] as string])).toEqual([]);
    expect(await session.query(unique(7))).toHaveLength(0);
    expect((await session.list({ limit: 100 })).items).toHaveLength(58);
    expect(stillInFiles(path, [unique(7), unique(31)])).toEqual([]);
    expect(stillInFiles(path, [unique(8)])).toHaveLength(1);
    await memory.close();
    const again = await open({ path });
    expect(await again.session({ user: "ada" }).query(unique(31))).toHaveLength(0);
    expect(await contents(again.session({ user: "ada" }).query(unique(30)))).toContainEqual(
      expect.stringContaining(unique(30)),
    );
  });

  it("takes a long message of very many distinct words out of the bytes of the files", async () => {
    const path = newPath();
    const memory = await open({ path, buffer: { hybridBuffer: { embeddingModel: "none" } } });
    const ada = memory.session({ user: "ada", session: "s" });
    await fill(memory, { user: "ada", session: "s" }, 0, 60);
    const words = Array.from({ length: 60_000 }, (_, at) => unique(1_000 + at));
    const content = words.join(" ");
    const { ids } = await ada.add([{ role: "user", content }]);
    const samples = words.filter((_, at) => at % 997 === 0);
    expect(stillInFiles(path, samples)).toHaveLength(samples.length);
    expect((await ada.get(ids))[0]?.content).toBe(content);
    expect((await ada.query(words[59_000] as string)).map(({ id }) => id)).toContain(ids[0]);
    expect(await ada.delete(ids)).toMatchObject({ items: 1, purged: true, left: [] });
    expect(stillInFiles(path, samples)).toEqual([]);
    expect((await ada.query(words[59_000] as string)).map(({ id }) => id)).not.toContain(ids[0]);
    expect(await contents(ada.query(unique(7)))).toContainEqual(expect.stringContaining(unique(7)));
  });

  it("takes a whole user out, with sessions, registry entry and name, and leaves others alone", async () => {
    const path = newPath();
    // By words alone: what an embedder has come to would change the answers in between.
    const memory = await open({ path, buffer: { hybridBuffer: { embeddingModel: "none" } } });
    await fill(memory, { user: "user-to-forget-wqx", session: "session-to-forget-wqx" }, 0, 1_500);
    await fill(memory, { user: "user-to-forget-wqx" }, 1_500, 20);
    await fill(memory, { user: "bob", session: "s" }, 5_000, 300);
    const before = await memory.session({ user: "bob" }).query(`${unique(5_007)} weather lisbon`);
    const receipt = await memory.forget({ user: "user-to-forget-wqx" });
    expect(receipt).toMatchObject({ items: 1_520, sessions: 1, entries: 1, purged: true });
    const gone = Array.from({ length: 1_520 }, (_, at) => unique(at));
    expect(stillInFiles(path, [...gone, "to-forget-wqx"])).toEqual([]);
    expect(await memory.users.get("user-to-forget-wqx")).toBeUndefined();
    expect(await memory.session({ user: "bob" }).query(`${unique(5_007)} weather lisbon`)).toEqual(before);
    expect((await memory.session({ user: "bob" }).list({ limit: 1000 })).items).toHaveLength(300);
  });

  it("finds and removes copies that page splits leave in the file", async () => {
    const path = newPath();
    const memory = await open({ path });
    const session = memory.session({ user: "ada", session: "s" });
    const live = new Map<string, number>();
    const gone: string[] = [];
    let next = 0;
    let seed = 42;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed % below;
    };
    for (let round = 0; round < 60; round++) {
      const messages = Array.from({ length: 40 }, () => ({ ...message(next), id: `id-${random(1e9)}-${next++}` }));
      await session.add(messages);
      for (const [at, { id }] of messages.entries()) live.set(id, next - messages.length + at);
      for (let edit = 0; edit < 4; edit++) {
        const [id = "", at = 0] = [...live][random(live.size)] ?? [];
        await session.update(id, { ...message(next), content: `${message(next).content} edited` });
        gone.push(unique(at));
        live.set(id, next++);
      }
      const doomed = [...live].filter(() => random(3) === 0).slice(0, 25);
      await session.delete(doomed.map(([id]) => id));
      for (const [id, at] of doomed) {
        live.delete(id);
        gone.push(unique(at));
      }
    }
    // Edits leave their old words for the next purge to find; this delete is that purge.
    const [last] = [...live.keys()];
    expect((await session.delete([last as string])).purged).toBe(true);
    expect(stillInFiles(path, gone)).toEqual([]);
    const [id, at] = [...live][5] as [string, number];
    expect((await session.query(unique(at))).map((hit) => hit.id)).toEqual([id]);
    const raw = openRaw(path);
    expect(raw.prepare("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
    raw.exec("INSERT INTO words (words) VALUES ('integrity-check')");
    raw.close();
  });

  it("of several sessions at once leaves no words of any of them in the file", async () => {
    const path = newPath();
    const memory = await open({ path });
    await fill(memory, { user: "ada", session: "keep" }, 10_000, 200);
    const names = ["one", "two", "three", "four"];
    for (const [at, name] of names.entries()) await fill(memory, { user: "ada", session: name }, at * 300, 300);
    const receipts = await Promise.all(names.map((session) => memory.forget({ user: "ada", session })));
    expect(receipts.map(({ items, purged }) => [items, purged])).toEqual(names.map(() => [300, true]));
    expect(
      stillInFiles(
        path,
        Array.from({ length: 1_200 }, (_, at) => unique(at)),
      ),
    ).toEqual([]);
    expect(await contents(memory.session({ user: "ada" }).query(unique(10_007)))).toContainEqual(
      expect.stringContaining(unique(10_007)),
    );
    const raw = openRaw(path);
    expect(raw.prepare("SELECT purge, unpurged FROM head").get()).toEqual({ purge: 0, unpurged: 0 });
    raw.close();
  });

  it("of a process that died before its purge is purged by the next forget of another", async () => {
    const path = newPath();
    const memory = await open({ path });
    const ids = await fill(memory, { user: "ada", session: "s" }, 0, 20);
    // What a process leaves that died right after its forget: the count, but no knowledge of what to look for.
    alter(path, "UPDATE head SET purge = 1, unpurged = unpurged + 1");
    expect((await memory.session({ user: "ada" }).delete(ids.slice(0, 1))).purged).toBe(true);
    const after = openRaw(path);
    expect(after.prepare("SELECT purge, unpurged FROM head").get()).toEqual({ purge: 0, unpurged: 0 });
    expect(after.prepare("PRAGMA freelist_count").get()).toEqual({ freelist_count: 0 }); // rewritten
    after.close();
  });

  it.each([
    ["", 0],
    [", also by a clock that was set back since", Date.UTC(2200, 0)],
  ])("is finished later if the process ended between the delete and the purge%s", async (_, since) => {
    const path = newPath();
    const memory = await open({ path });
    await fill(memory, { user: "ada", session: "s" }, 0, 100);
    await memory.close();
    // As a process leaves it that died right after the commit of a forget: marks in the words, purge due for an hour.
    alter(
      path,
      `INSERT INTO words (words, rank) VALUES ('secure-delete', 0);
       UPDATE head SET purge = 2, purge_since = ${since}, unpurged = 1`,
    );
    const again = await open({ path });
    await again.service.sweep();
    const raw = openRaw(path);
    expect(raw.prepare("SELECT purge FROM head").get()).toEqual({ purge: 0 });
    raw.close();
    expect(await contents(again.session({ user: "ada" }).query(unique(3)))).toContainEqual(
      expect.stringContaining(unique(3)),
    );
  });

  it("says so when another process keeps the log in use", async () => {
    const path = newPath();
    const memory = await open({ path });
    const ids = await fill(memory, { user: "ada", session: "s" }, 0, 10);
    const reader = openRaw(path);
    reader.exec("BEGIN");
    reader.prepare("SELECT count(*) FROM item").get();
    const receipt = await memory.session({ user: "ada" }).delete([ids[0] as string]);
    expect(receipt.purged).toBe(false);
    expect(receipt.left[0]?.what).toBe("log");
    reader.exec("COMMIT");
    reader.close();
    expect((await memory.session({ user: "ada" }).delete([ids[1] as string])).purged).toBe(true);
    expect(stillInFiles(path, [unique(0), unique(1)])).toEqual([]);
  });

  it("leaves what users and teams own when an agent is forgotten, and says so", async () => {
    const memory = await open({ path: newPath() });
    await memory.session({ user: "ada", agent: "tutor", session: "s" }).add([{ role: "user", content: "mine" }]);
    await memory.session({ agent: "tutor" }).addItems([{ kind: "knowledge", content: "the agent's own" }]);
    const receipt = await memory.forget({ agent: "tutor" });
    expect(receipt).toMatchObject({ items: 1, entries: 1 });
    expect(receipt.left[0]?.what).toContain("other spaces");
    const [hit] = await memory.session({ user: "ada" }).query("mine");
    expect(hit?.content).toBe("mine");
    expect(hit?.agent).toBeUndefined();
    expect(await memory.session({ agent: "tutor" }).query("own")).toHaveLength(0);
  });
});
