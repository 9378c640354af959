/** Shared blocks: expected versions, merges, read-only blocks, other spaces. */
import type { BlockSettings, Blocks, Scope } from "holdfast";
import { describe, expect, it } from "vitest";
import { newPath, open } from "../support/opened.js";
import { memoryAt, sessionsAt, sessionsOf, suitePath } from "./stores.js";

describe("an edit made from a version of a block", () => {
  const newSession = sessionsAt(suitePath());

  it("wins if that is still the newest; the others get the newest version", async () => {
    const blocks = newSession().blocks;
    const { id } = await blocks.create({ name: "persona", content: "one" });
    const edits = ["a", "b", "c", "d"].map((content) => blocks.edit("persona", { content, expectVersion: 1 }));
    const results = await Promise.allSettled(edits);
    const won = results.filter(({ status }) => status === "fulfilled");
    const lost = results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
    expect(won).toHaveLength(1);
    expect(lost).toHaveLength(3);
    for (const error of lost) expect(error).toMatchObject({ code: "conflict", details: { id, version: 2 } });
    expect(await blocks.history("persona")).toHaveLength(1);
  });

  it("from the future is refused, even if merging is allowed", async () => {
    const blocks = newSession().blocks;
    await blocks.create({ name: "persona", content: "one" });
    for (const merge of [false, true]) {
      const edit = blocks.edit("persona", { content: "x", expectVersion: 2, merge });
      await expect(edit).rejects.toMatchObject({ code: "conflict", details: { version: 1 } });
    }
  });

  it("is checked by rename, restore and archiveOverflow too", async () => {
    const blocks = newSession().blocks;
    await blocks.create({ name: "persona", content: "12345678901", maxTokens: 2 });
    const before = await blocks.edit("persona", { content: "123456789012" });
    const old = { expectVersion: 1 };
    for (const call of [
      () => blocks.rename("persona", "self", old),
      () => blocks.restore("persona", 1, old),
      () => blocks.archiveOverflow("persona", old),
    ]) {
      await expect(call()).rejects.toMatchObject({ code: "conflict", details: { version: 2 } });
    }
    expect(await blocks.list()).toEqual([before]);
    expect((await blocks.rename("persona", "self", { expectVersion: 2 })).version).toBe(3);
    expect((await blocks.archiveOverflow("self", { expectVersion: 3 }))?.version).toBe(4);
    expect((await blocks.restore("self", 1, { expectVersion: 4 })).version).toBe(5);
  });

  it("is merged with later edits on request, if they do not overlap", async () => {
    const blocks = newSession().blocks;
    const lines = ["name: Ada", "", "likes: tea", "", "home: Lisbon"];
    await blocks.create({ name: "human", content: lines.join("\n") });
    await blocks.edit("human", { replace: "tea", with: "coffee" });
    await blocks.edit("human", { replace: "Ada", with: "Ada Lovelace" });
    const mine = { content: [...lines.slice(0, 4), "home: Porto", "age: 36"].join("\n"), expectVersion: 1 };
    await expect(blocks.edit("human", mine)).rejects.toMatchObject({ code: "conflict", details: { version: 3 } });
    const merged = await blocks.edit("human", { ...mine, merge: true });
    expect(merged).toMatchObject({
      version: 4,
      content: "name: Ada Lovelace\n\nlikes: coffee\n\nhome: Porto\nage: 36",
    });
    // The log records the states before and after, not what the caller saw.
    expect((await blocks.history("human"))[0]).toMatchObject({
      old: "name: Ada Lovelace\n\nlikes: coffee\n\nhome: Lisbon",
      new: merged.content,
    });
  });

  it("is refused by a merge if they overlap", async () => {
    const blocks = newSession().blocks;
    await blocks.create({ name: "human", content: "likes: tea\nhome: Lisbon" });
    const before = await blocks.edit("human", { replace: "tea", with: "coffee" });
    const other = blocks.edit("human", { replace: "tea", with: "milk", expectVersion: 1, merge: true });
    await expect(other).rejects.toMatchObject({ code: "conflict", details: { version: 2 } });
    expect(await blocks.get("human")).toEqual(before);
    // Two equal edits count as one.
    const same = await blocks.edit("human", { replace: "tea", with: "coffee", expectVersion: 1, merge: true });
    expect(same.content).toBe(before.content);
  });
});

describe("without a version, edits of a block", () => {
  const newSession = sessionsAt(suitePath());

  it("that are concurrent are all made, in the order of the calls", async () => {
    const blocks = newSession().blocks;
    await blocks.create({ name: "log" });
    const edits = Array.from({ length: 50 }, (_, at) => blocks.edit("log", { append: `line ${at}` }));
    const versions = (await Promise.all(edits)).map(({ version }) => version);
    expect(versions).toEqual(edits.map((_, at) => at + 2));
    const text = edits.map((_, at) => `line ${at}`).join("\n");
    expect((await blocks.get("log"))?.content).toBe(text);
  });

  it("that create the same block create one", async () => {
    const blocks = newSession().blocks;
    const results = await Promise.allSettled(["a", "b", "c"].map((content) => blocks.create({ name: "new", content })));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const result of results) {
      if (result.status === "rejected") {
        expect(result.reason).toMatchObject({ code: "conflict", details: { name: "new" } });
      }
    }
    expect(await blocks.list()).toHaveLength(1);
  });
});

describe("a block", () => {
  const memory = memoryAt(suitePath());
  const newSession = sessionsOf(memory);

  it("is configured in each of its settings, one by one, and keeps its text", async () => {
    const blocks = newSession().blocks;
    const created = await blocks.create({ name: "persona", content: "one" });
    expect(created).toMatchObject({ maxTokens: 4_096, counter: "chars4", policy: "manual", readOnly: false });
    expect(created).not.toHaveProperty("description");
    let expected = { ...created };
    const settings: readonly BlockSettings[] = [
      { description: "who I am" },
      { maxTokens: 7 },
      { counter: "gpt-4o-mini" },
      { policy: "refuse" },
      { readOnly: true },
    ];
    for (const [at, setting] of settings.entries()) {
      const configured = await blocks.configure("persona", { ...setting, reason: `reason ${at}` });
      expected = { ...expected, ...(setting as object), version: at + 2, updatedAt: configured.updatedAt };
      expect(configured).toEqual(expected);
      expect(await blocks.get("persona")).toEqual(expected);
    }
    const { description: _, ...without } = expected;
    const bare = await blocks.configure("persona", { description: null });
    expect(bare).toEqual({ ...without, version: 7, updatedAt: bare.updatedAt });
    expect((await blocks.history("persona")).map(({ reason, old, new: text }) => [reason, old, text])).toEqual([
      ["", "one", "one"],
      ...[4, 3, 2, 1, 0].map((at) => [`reason ${at}`, "one", "one"]),
    ]);
  });

  it("that is read-only refuses everything but reading and configuring", async () => {
    const session = newSession();
    const { blocks } = session;
    const before = await blocks.create({ name: "rules", content: "123456789", maxTokens: 2, readOnly: true });
    const turn = session.turn();
    turn.push({ op: "edit_block", block: "rules", append: "more" });
    const calls: readonly (() => Promise<unknown>)[] = [
      () => blocks.edit("rules", { append: "more" }),
      () => blocks.rename("rules", "laws"),
      () => blocks.restore("rules", 1),
      () => blocks.archiveOverflow("rules"),
      () => blocks.delete("rules"),
      () => session.commit(turn),
    ];
    const refusal = { code: "read_only", details: { id: before.id, version: 1 } };
    for (const call of calls) await expect(call()).rejects.toMatchObject(refusal);
    expect(await blocks.list()).toEqual([before]);
    expect(await blocks.version("rules", 1)).toBe("123456789");
    expect(await blocks.history("rules")).toEqual([]);
    await blocks.configure("rules", { readOnly: false });
    for (const call of calls.slice(0, 1)) await call();
    expect((await blocks.get("rules"))?.content).toBe("123456789\nmore");
  });

  it("belongs to one space: user, agent or team, regardless of other names", async () => {
    const of = (scope: Scope): Blocks => memory().session(scope).blocks;
    const scopes: readonly Scope[] = [{ user: "x" }, { agent: "x" }, { team: "x" }, { user: "y" }];
    for (const scope of scopes) await of(scope).create({ name: "persona", content: JSON.stringify(scope) });
    await of({ user: "x" }).create({ name: "only-hers" });
    for (const scope of scopes) {
      expect((await of(scope).get("persona"))?.content).toBe(JSON.stringify(scope));
      expect((await of(scope).get("persona"))?.space).toEqual(scope);
    }
    for (const scope of scopes.slice(1)) {
      expect(await of(scope).get("only-hers")).toBeUndefined();
      expect((await of(scope).list()).map(({ name }) => name)).toEqual(["persona"]);
      const refused = { code: "not_found" };
      await expect(of(scope).edit("only-hers", { content: "x" })).rejects.toMatchObject(refused);
      await expect(of(scope).history("only-hers")).rejects.toMatchObject(refused);
      await expect(of(scope).delete("only-hers")).rejects.toMatchObject(refused);
    }
    // The space is the user's, whatever else the scope names, unless `space` is given.
    const both = { user: "x", agent: "x", session: "s" } as const;
    expect(await of(both).get("only-hers")).toBeDefined();
    expect((await of({ ...both, space: "agent" }).list()).map(({ name }) => name)).toEqual(["persona"]);
    await of({ user: "x" }).delete("persona");
    expect(await of({ agent: "x" }).get("persona")).toBeDefined();
    expect(await of({ team: "x" }).get("persona")).toBeDefined();
  });

  it("refuses every call once the memory is closed, as a rejection", async () => {
    const closing = await open({ path: ":memory:" });
    const { blocks } = closing.session({ user: "ada" });
    await blocks.create({ name: "persona", content: "one" });
    await closing.close();
    const calls: readonly (() => Promise<unknown>)[] = [
      () => blocks.create({ name: "new" }),
      () => blocks.get("persona"),
      () => blocks.list(),
      () => blocks.edit("persona", { content: "x" }),
      () => blocks.rename("persona", "x"),
      () => blocks.configure("persona", { maxTokens: 1 }),
      () => blocks.delete("persona"),
      () => blocks.history("persona"),
      () => blocks.version("persona", 1),
      () => blocks.diff("persona", 1, 1),
      () => blocks.restore("persona", 1),
      () => blocks.archiveOverflow("persona"),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: "closed" });
  });
});

const blocksOf = async (path: string): Promise<Blocks> => (await open({ path })).session({ user: "ada" }).blocks;

it("two memories on one file see each other's blocks at once, and lose no edit", async () => {
  const path = newPath();
  const [ada, bob] = [await blocksOf(path), await blocksOf(path)];
  await ada.create({ name: "log", content: "start" });
  const edits = Array.from({ length: 20 }, (_, at) => (at % 2 ? ada : bob).edit("log", { append: `line ${at}` }));
  await Promise.all(edits);
  const [seen, other] = [await ada.get("log"), await bob.get("log")];
  expect(seen).toEqual(other);
  expect(seen?.version).toBe(21);
  expect(seen?.content.split("\n").sort()).toEqual(["start", ...edits.map((_, at) => `line ${at}`)].sort());
  await bob.rename("log", "diary");
  expect(await ada.get("log")).toBeUndefined();
  await expect(ada.edit("log", { append: "x" })).rejects.toMatchObject({ code: "not_found" });
  await ada.delete("diary");
  expect(await bob.list()).toEqual([]);
});
