/** Deleting a block removes its overflow too: from every answer and from the bytes of the file. */
import { existsSync, readFileSync } from "node:fs";
import { FakeClock, HashEmbedder } from "holdfast/testing";
import { describe, expect, it } from "vitest";
import { newPath, open } from "../support/opened.js";
import { openInterrupted } from "./interrupted.js";
import { memoryAt, sessionsOf, suitePath } from "./stores.js";

/** The texts that can still be read in the files, unchanged or folded to lower case. */
function stillInFiles(path: string, texts: readonly string[]): string[] {
  const files = ["", "-wal", "-shm"].map((suffix) => path + suffix).filter(existsSync);
  const bytes = files.map((file) => readFileSync(file));
  return texts.filter((text) => bytes.some((file) => file.includes(text) || file.includes(text.toLowerCase())));
}

/** A word that occurs nowhere else. None of them is part of another. */
const unique = (what: string, at: number): string => `zq${what}${(at * 7_919 + 104_729).toString(36)}xv${at}k`;

describe("deleting a block", () => {
  const memory = memoryAt(suitePath());
  const newSession = sessionsOf(memory);

  it("removes everything that overflowed from it, and keeps the overflow of others", async () => {
    const session = newSession();
    const { blocks } = session;
    for (const name of ["doomed", "kept"]) {
      await blocks.create({ name, content: "1234", maxTokens: 1, policy: "archive" });
    }
    await blocks.edit("kept", { append: "narwhal" });
    const turn = session.turn(2_000);
    for (let at = 0; at < 1_050; at++) turn.push({ op: "edit_block", block: "doomed", append: `walrus ${at}` });
    await session.commit(turn);
    // Items that a person made of it, or that only look like it, are not the block's.
    await session.addItems([{ kind: "knowledge", content: "a walrus is large" }]);
    await session.addItems([{ kind: "overflow", content: "a walrus from elsewhere", metadata: { block: "other" } }]);
    expect(await session.query("walrus", { topK: 1_000, kind: "overflow" })).toHaveLength(1_000);
    await blocks.rename("doomed", "renamed");
    expect(await blocks.delete("renamed")).toMatchObject({
      blocks: 1,
      items: 1_050,
      purged: true,
      left: [{ what: "idempotency keys and ids of these messages" }], // those of the turn
    });
    const hits = await session.query("walrus", { topK: 1_000 });
    expect(hits.map(({ content }) => content).sort()).toEqual(["a walrus from elsewhere", "a walrus is large"]);
    expect((await session.query("narwhal")).map(({ content }) => content)).toEqual(["\nnarwhal"]);
    expect((await blocks.list()).map(({ name }) => name)).toEqual(["kept"]);
  });

  it("is not done by forgetting a session, but by forgetting its space", async () => {
    const session = newSession();
    const { user = "" } = session.scope;
    await session.add([{ role: "user", content: "hello" }]);
    await session.blocks.create({ name: "sea", content: "1234walrus", maxTokens: 1, policy: "archive" });
    expect(await session.forget()).toMatchObject({ items: 1, blocks: 0 });
    expect(await session.blocks.get("sea")).toMatchObject({ content: "1234" });
    expect(await session.query("walrus")).toHaveLength(1);
    expect(await memory().forget({ user })).toMatchObject({ items: 1, blocks: 1, purged: true });
    expect(await session.blocks.list()).toEqual([]);
    expect(await session.query("walrus")).toHaveLength(0);
  });
});

it("leaves no bytes of a deleted block: its versions, names, notes and overflow", async () => {
  const path = newPath();
  const session = (await open({ path })).session({ user: "ada", session: "s" });
  const { blocks } = session;
  const gone: string[] = [];
  const kept: string[] = [];
  for (const [of, texts] of [
    ["gone", gone],
    ["kept", kept],
  ] as const) {
    const word = (what: string, at: number): string => {
      const made = unique(of + what, at);
      texts.push(made);
      return made;
    };
    let name = word("name", 0);
    const budget = { maxTokens: 10, policy: "archive" } as const;
    await blocks.create({ name, content: word("content", 0), description: word("description", 0), ...budget });
    for (let at = 1; at <= 30; at++) {
      const note = { reason: word("reason", at), actor: word("actor", at) };
      // The first word stays in the block, the second overflows.
      const content = `${word("content", at)} ${"and so on ".repeat(10)} ${word("overflow", at)}`;
      const edited = await blocks.edit(name, { content, ...note });
      expect(edited.archived?.text).toContain(unique(`${of}overflow`, at));
      const next = word("name", at);
      await blocks.rename(name, next);
      name = next;
    }
  }
  expect(stillInFiles(path, [...gone, ...kept])).toHaveLength(2 * (3 + 30 * 5));
  const receipt = await blocks.delete(unique("gonename", 30));
  expect(receipt).toMatchObject({ blocks: 1, items: 30, purged: true, left: [] });
  expect(stillInFiles(path, gone)).toEqual([]);
  expect(stillInFiles(path, kept)).toEqual(kept);
  expect(await session.query(unique("goneoverflow", 7))).toHaveLength(0);
  expect(await session.query(unique("keptoverflow", 7))).toHaveLength(1);
});

it("takes what overflowed out of what is searched by meaning", async () => {
  const memory = await open({ path: newPath(), clock: new FakeClock(), embedder: new HashEmbedder() });
  const session = memory.session({ user: "ada" });
  const content = "1234 the walrus sleeps on the ice";
  await session.blocks.create({ name: "sea", content, maxTokens: 1, policy: "archive" });
  const question = "does the walrus sleep";
  expect(await session.query(question)).toHaveLength(1);
  expect(await session.flush()).toEqual({ pending: 0, parked: 0 });
  expect((await memory.stats()).store.embedded).toBe(1);
  await session.blocks.delete("sea");
  expect(await session.query(question)).toHaveLength(0);
  expect((await memory.stats()).store).toMatchObject({ embedded: 0, pending: 0, items: 0 });
});

it("removes what overflows while the block is being deleted", async () => {
  const path = newPath();
  const { memory, before } = await openInterrupted(path);
  try {
    const other = (await open({ path })).session({ user: "ada" });
    const session = memory.session({ user: "ada" });
    await session.blocks.create({ name: "doomed", content: "1234walrus", maxTokens: 1, policy: "archive" });
    before(
      (write) => write.op === "forget" && "block" in write.target,
      () => other.blocks.edit("doomed", { append: "narwhal" }),
    );
    expect(await session.blocks.delete("doomed")).toMatchObject({ blocks: 1, items: 2, purged: true });
    expect((await session.list({ kind: "overflow" })).items).toEqual([]);
    expect(await other.query("narwhal")).toHaveLength(0);
    expect(stillInFiles(path, ["narwhal", "walrus"])).toEqual([]);
  } finally {
    await memory.close();
  }
});

it("continues with the block that replaced it, if one is deleted and recreated during an edit", async () => {
  const path = newPath();
  const { memory, before } = await openInterrupted(path);
  try {
    const other = (await open({ path })).session({ user: "ada" }).blocks;
    const { blocks } = memory.session({ user: "ada" });
    await blocks.create({ name: "log", content: "old" });
    before(
      (write) => write.op === "put_block",
      async () => {
        await other.delete("log");
        await other.create({ name: "log", content: "new" });
      },
    );
    expect(await blocks.edit("log", { append: "line" })).toMatchObject({ version: 2, content: "new\nline" });
    before(
      (write) => write.op === "put_block",
      () => other.delete("log"),
    );
    const lost = blocks.edit("log", { append: "line" });
    await expect(lost).rejects.toMatchObject({ code: "not_found", details: { name: "log" } });
  } finally {
    await memory.close();
  }
});
