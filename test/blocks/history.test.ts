/** The history of a block: the log, the text of every version, diffs, and restoring. */

import fc from "fast-check";
import type { BlockEditInput } from "holdfast";
import { FakeClock } from "holdfast/testing";
import { describe, expect, it } from "vitest";
import { newPath, open } from "../support/opened.js";
import { sessionsAt } from "./stores.js";

const ADA = { user: "ada" } as const;

describe("the history of a block", () => {
  const newSession = sessionsAt(":memory:");

  it("says what was changed, why, by whom and when, newest first", async () => {
    const clock = new FakeClock();
    const start = clock.now();
    const memory = await open({ path: ":memory:", clock });
    const tutor = memory.session({ ...ADA, agent: "tutor" }).blocks;
    await tutor.create({ name: "persona", content: "one", reason: "first of all" });
    clock.advance(1_000);
    await tutor.edit("persona", { append: "two", reason: "learnt it" });
    clock.advance(1_000);
    const last = await memory.session(ADA).blocks.edit("persona", { content: "three" });
    clock.advance(1_000);
    await tutor.edit("persona", { content: "four", actor: "a person", reason: "" });
    expect(last).toMatchObject({ createdAt: start, updatedAt: start + 2_000 });
    expect(await tutor.history("persona")).toEqual([
      { version: 4, old: "three", new: "four", name: "persona", reason: "", actor: "a person", at: start + 3_000 },
      { version: 3, old: "one\ntwo", new: "three", name: "persona", reason: "", actor: "user ada", at: start + 2_000 },
      {
        version: 2,
        old: "one",
        new: "one\ntwo",
        name: "persona",
        reason: "learnt it",
        actor: "agent tutor",
        at: start + 1_000,
      },
    ]);
  });

  it("is limited to the newest 20, to a requested number, or not at all", async () => {
    const blocks = newSession().blocks;
    await blocks.create({ name: "log", content: "1" });
    for (let version = 2; version <= 26; version++) await blocks.edit("log", { content: String(version) });
    const versions = async (limit?: number): Promise<number[]> =>
      (await blocks.history("log", limit === undefined ? {} : { limit })).map(({ version }) => version);
    const newest = (count: number): number[] => Array.from({ length: count }, (_, at) => 26 - at);
    expect(await versions()).toEqual(newest(20));
    expect(await versions(0)).toEqual(newest(25));
    expect(await versions(1)).toEqual([26]);
    expect(await versions(25)).toEqual(newest(25));
    expect(await versions(1_000)).toEqual(newest(25));
  });

  it("returns the text of every version, and reports which exist", async () => {
    const blocks = newSession().blocks;
    await blocks.create({ name: "log", content: "one" });
    await blocks.edit("log", { append: "two" });
    expect(await blocks.version("log", 1)).toBe("one");
    expect(await blocks.version("log", 2)).toBe("one\ntwo");
    for (const call of [
      () => blocks.version("log", 3),
      () => blocks.diff("log", 1, 3),
      () => blocks.diff("log", 3, 1),
      () => blocks.restore("log", 3),
    ]) {
      await expect(call()).rejects.toMatchObject({ code: "not_found", details: { version: 2 } });
    }
    expect((await blocks.get("log"))?.version).toBe(2);
  });

  it("shows the difference of two versions as a diff that turns one into the other", async () => {
    const blocks = newSession().blocks;
    await blocks.create({ name: "log", content: "one\ntwo\nthree\n" });
    await blocks.edit("log", { replace: "two", with: "TWO" });
    await blocks.edit("log", { append: "four\n" });
    const diff = await blocks.diff("log", 1, 3);
    expect(diff).toBe("--- log (version 1)\n+++ log (version 3)\n@@ -1,3 +1,4 @@\n one\n-two\n+TWO\n three\n+four\n");
    expect(await blocks.diff("log", 2, 2)).toBe("");
    const back = await blocks.diff("log", 3, 1);
    expect((await blocks.edit("log", { patch: back })).content).toBe("one\ntwo\nthree\n");
    expect((await blocks.edit("log", { patch: diff })).content).toBe("one\nTWO\nthree\nfour\n");
  });

  it("continues under a new name, and records the old one", async () => {
    const blocks = newSession().blocks;
    const { id } = await blocks.create({ name: "persona", content: "one" });
    await blocks.create({ name: "human", content: "Ada" });
    await blocks.edit("persona", { append: "two" });
    const renamed = await blocks.rename("persona", "self", { reason: "clearer", actor: "a person" });
    expect(renamed).toMatchObject({ id, name: "self", version: 3, content: "one\ntwo" });
    expect(await blocks.get("persona")).toBeUndefined();
    expect(await blocks.get("self")).toEqual(renamed);
    expect(await blocks.history("self")).toMatchObject([
      { version: 3, name: "self", formerName: "persona", reason: "clearer", actor: "a person", old: "one\ntwo" },
      { version: 2, name: "persona", old: "one", new: "one\ntwo" },
    ]);
    expect((await blocks.history("self"))[1]).not.toHaveProperty("formerName");
    const taken = { code: "conflict", details: { name: "human" } };
    await expect(blocks.rename("self", "human")).rejects.toMatchObject(taken);
    await expect(blocks.create({ name: "human" })).rejects.toMatchObject(taken);
    expect(await blocks.get("self")).toEqual(renamed);
    expect((await blocks.create({ name: "persona" })).id).not.toBe(id);
    expect((await blocks.list()).map(({ name }) => name)).toEqual(["human", "persona", "self"]);
  });

  it("is not affected by a restored version, whatever the budget is now", async () => {
    const blocks = newSession().blocks;
    await blocks.create({ name: "log", content: "a long text of many characters" });
    await blocks.edit("log", { content: "short" });
    await blocks.configure("log", { maxTokens: 2, policy: "refuse" });
    const restored = await blocks.restore("log", 1);
    expect(restored).toMatchObject({ version: 4, content: "a long text of many characters", policy: "refuse" });
    expect((await blocks.history("log"))[0]).toMatchObject({ version: 4, reason: "restored version 1" });
    expect((await blocks.restore("log", 2, { reason: "again", actor: "me" })).content).toBe("short");
    expect((await blocks.history("log"))[0]).toMatchObject({ version: 5, reason: "again", actor: "me" });
  });

  it("ends with the block: one of the same name starts at 1", async () => {
    const blocks = newSession().blocks;
    await blocks.create({ name: "log", content: "old" });
    await blocks.edit("log", { content: "older" });
    expect(await blocks.delete("log")).toMatchObject({ blocks: 1, items: 0, purged: true });
    await expect(blocks.history("log")).rejects.toMatchObject({ code: "not_found" });
    expect(await blocks.create({ name: "log", content: "new" })).toMatchObject({ version: 1 });
    expect(await blocks.history("log")).toEqual([]);
    await expect(blocks.version("log", 2)).rejects.toMatchObject({ code: "not_found" });
  });
});

const anyText = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 30 }),
  fc.string({ unit: "binary", maxLength: 30 }),
  fc
    .array(fc.constantFrom("a", "b", "", "\r", "é", "e\u0301", "👩‍👩‍👧‍👦", "\u0000", "\ud800"), { maxLength: 8 })
    .map((lines) => lines.join("\n")),
);

const anyEdit: fc.Arbitrary<BlockEditInput> = fc.oneof(
  anyText.map((content) => ({ content })),
  anyText.map((append) => ({ append })),
  fc.tuple(anyText, fc.nat(5)).map(([insert, line]) => ({ insert, line })),
  fc
    .tuple(fc.constantFrom("a", "b", "\n", "é"), anyText)
    .map(([replace, text]) => ({ replace, with: text, all: true })),
);

describe("any edits of a block", () => {
  const newSession = sessionsAt(":memory:");
  const numRuns = 58;

  it("keep every version unchanged: restored, patched, and in the log", async () => {
    const blocks = newSession().blocks;
    let run = 0;
    await fc.assert(
      fc.asyncProperty(anyText, fc.array(anyEdit, { minLength: 1, maxLength: 6 }), async (first, edits) => {
        const name = `block ${run++}`;
        const texts = [(await blocks.create({ name, content: first })).content];
        for (const edit of edits) {
          // An edit that does not apply creates no version.
          const block = await blocks.edit(name, edit).catch(() => undefined);
          if (block) texts.push(block.content);
        }
        const count = texts.length;
        for (const [at, text] of texts.entries()) {
          expect(await blocks.version(name, at + 1)).toBe(text);
          const patch = await blocks.diff(name, count + at, at + 1);
          expect((await blocks.restore(name, at + 1)).content).toBe(text);
          const latest = await blocks.get(name);
          expect(latest).toMatchObject({ content: text, version: count + at + 1 });
          // The same by diffs, from a block with the previous text.
          const before = await blocks.version(name, count + at);
          await blocks.create({ name: `${name} ${at}`, content: before });
          expect((await blocks.edit(`${name} ${at}`, { patch })).content).toBe(text);
        }
        const log = [...(await blocks.history(name, { limit: 0 }))].reverse();
        expect(log.map(({ version }) => version)).toEqual(log.map((_, at) => at + 2));
        expect(log.map((edit) => edit.old)).toEqual([texts[0], ...log.map((edit) => edit.new)].slice(0, -1));
        expect(log.map((edit) => edit.new)).toEqual([...texts.slice(1), ...texts]);
      }),
      { numRuns },
    );
  });
});

it("the history of a block survives the memory being closed and opened again", async () => {
  const path = newPath();
  const memory = await open({ path });
  const { blocks } = memory.session(ADA);
  await blocks.create({ name: "log", content: "one", description: "what happened", counter: "gpt-4o-mini" });
  await blocks.edit("log", { append: "two", reason: "why not" });
  const [before, history] = [await blocks.list(), await blocks.history("log")];
  await memory.close();
  const again = (await open({ path })).session(ADA).blocks;
  expect(await again.list()).toEqual(before);
  expect(await again.history("log")).toEqual(history);
});
