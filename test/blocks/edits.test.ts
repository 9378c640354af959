/** The ways to edit a block: what each does to its text, and what is refused without a trace. */
import type { BlockEditInput } from "holdfast";
import { describe, expect, it } from "vitest";
import { sessionsAt } from "./stores.js";

describe("an edit of a block", () => {
  const newSession = sessionsAt(":memory:");

  /** The text of a block after this edit. */
  async function edited(content: string, edit: BlockEditInput): Promise<string | undefined> {
    const blocks = newSession().blocks;
    await blocks.create({ name: "persona", content });
    const block = await blocks.edit("persona", edit);
    expect(block.version).toBe(2);
    const stored = await blocks.get("persona");
    expect(stored).toEqual(block);
    return stored?.content;
  }

  it("replaces the whole text, even by an empty one", async () => {
    expect(await edited("one\ntwo", { content: "three 👩‍👩‍👧‍👦 e\u0301" })).toBe("three 👩‍👩‍👧‍👦 e\u0301");
    expect(await edited("one", { content: "" })).toBe("");
  });

  it("appends on a new line", async () => {
    expect(await edited("one", { append: "two" })).toBe("one\ntwo");
    expect(await edited("one\n", { append: "two\n" })).toBe("one\ntwo\n");
    expect(await edited("", { append: "one" })).toBe("one");
    expect(await edited("one", { append: "" })).toBe("one");
  });

  it("replaces exactly one occurrence, and treats nothing as a pattern", async () => {
    expect(await edited("likes tea", { replace: "tea", with: "coffee" })).toBe("likes coffee");
    expect(await edited("a.c abc", { replace: "a.c", with: "$&$1" })).toBe("$&$1 abc");
    expect(await edited("one two", { replace: " two", with: "" })).toBe("one");
  });

  it("replaces all occurrences on request", async () => {
    expect(await edited("tea, tea and tea", { replace: "tea", with: "$& ☕", all: true })).toBe(
      "$& ☕, $& ☕ and $& ☕",
    );
  });

  it("refuses to replace text that occurs twice, overlaps with itself, or does not occur", async () => {
    const blocks = newSession().blocks;
    const before = await blocks.create({ name: "persona", content: "tea aaa tea" });
    const replacing = (replace: string) => blocks.edit("persona", { replace, with: "x" });
    await expect(replacing("tea")).rejects.toMatchObject({ code: "conflict", details: { field: "replace", count: 2 } });
    await expect(replacing("aa")).rejects.toMatchObject({ code: "conflict", details: { count: 2 } });
    await expect(replacing("Tea")).rejects.toMatchObject({ code: "not_found", details: { field: "replace" } });
    const all = blocks.edit("persona", { replace: "coffee", with: "x", all: true });
    await expect(all).rejects.toMatchObject({ code: "not_found" });
    expect(await blocks.get("persona")).toEqual(before);
    expect(await blocks.history("persona")).toEqual([]);
  });

  it("inserts after a line; 0 is the top", async () => {
    expect(await edited("one\ntwo", { insert: "zero", line: 0 })).toBe("zero\none\ntwo");
    expect(await edited("one\ntwo", { insert: "1.5", line: 1 })).toBe("one\n1.5\ntwo");
    expect(await edited("one\ntwo", { insert: "three", line: 2 })).toBe("one\ntwo\nthree");
    expect(await edited("one\ntwo\n", { insert: "three", line: 2 })).toBe("one\ntwo\nthree");
    expect(await edited("", { insert: "one", line: 0 })).toBe("one");
  });

  it("refuses to insert after a line that does not exist", async () => {
    const blocks = newSession().blocks;
    await blocks.create({ name: "persona", content: "one\ntwo" });
    const edit = blocks.edit("persona", { insert: "x", line: 3 });
    await expect(edit).rejects.toMatchObject({ code: "invalid_input", details: { field: "line", lines: 2 } });
    expect((await blocks.get("persona"))?.version).toBe(1);
  });

  it("applies a unified diff, even if its lines have moved", async () => {
    const patch = "@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n";
    expect(await edited("one\ntwo\nthree\n", { patch })).toBe("one\nTWO\nthree\n");
    expect(await edited("zero\none\ntwo\nthree\n", { patch })).toBe("zero\none\nTWO\nthree\n");
  });

  it("refuses a diff of another text, and text that is not a diff", async () => {
    const blocks = newSession().blocks;
    const before = await blocks.create({ name: "persona", content: "one\ntwo\n" });
    const patching = (patch: string) => blocks.edit("persona", { patch });
    const other = patching("@@ -1,2 +1,2 @@\n one\n-zwei\n+two\n");
    await expect(other).rejects.toMatchObject({ code: "conflict", details: { field: "patch", hunk: 1 } });
    await expect(patching("make it nicer")).rejects.toMatchObject({
      code: "invalid_input",
      details: { field: "patch" },
    });
    expect(await blocks.get("persona")).toEqual(before);
  });

  it("repairs invalid text, as everywhere", async () => {
    expect(await edited("one", { append: "lone \ud800 and \0" })).toBe("one\nlone \ufffd and \ufffd");
  });

  it("makes a new version even if the text stays the same", async () => {
    expect(await edited("same", { content: "same" })).toBe("same");
  });
});

/** Wrong input, and the field that the error names. */
const BAD_EDITS: readonly (readonly [what: string, edit: unknown, field: string])[] = [
  ["nothing", {}, "edit"],
  ["only a reason", { reason: "because" }, "edit"],
  ["two changes", { content: "x", append: "y" }, "edit"],
  ["no object", "new text", "edit"],
  ["an unknown key", { content: "x", mode: "fast" }, "edit"],
  ["a number for a text", { content: 7 }, "edit.content"],
  ["null for a text", { append: null }, "edit.append"],
  ["an empty text to replace", { replace: "", with: "x" }, "edit.replace"],
  ["nothing to put in its place", { replace: "one" }, "edit.with"],
  ["all without replace", { content: "x", all: true }, "edit.all"],
  ["all that is no boolean", { replace: "one", with: "x", all: "yes" }, "edit.all"],
  ["an insert without a line", { insert: "x" }, "edit.line"],
  ["a negative line", { insert: "x", line: -1 }, "edit.line"],
  ["half a line", { insert: "x", line: 0.5 }, "edit.line"],
  ["line without insert", { append: "x", line: 1 }, "edit.line"],
  ["version 0", { content: "x", expectVersion: 0 }, "edit.expectVersion"],
  ["a version in words", { content: "x", expectVersion: "1" }, "edit.expectVersion"],
  ["merge without a version", { content: "x", merge: true }, "edit.merge"],
  ["merge that is no boolean", { content: "x", merge: 1, expectVersion: 1 }, "edit.merge"],
  ["a reason that is no text", { content: "x", reason: 1 }, "edit.reason"],
  ["an actor that is no text", { content: "x", actor: {} }, "edit.actor"],
];

const BAD_BLOCKS: readonly (readonly [what: string, block: unknown, field: string])[] = [
  ["no object", "persona", "block"],
  ["no name", { content: "x" }, "block.name"],
  ["an empty name", { name: "" }, "block.name"],
  ["a name with NUL", { name: "a\0b" }, "block.name"],
  ["a name with half a character", { name: "a\ud800" }, "block.name"],
  ["content that is no text", { name: "new", content: null }, "block.content"],
  ["a budget of 0", { name: "new", maxTokens: 0 }, "block.maxTokens"],
  ["half a token", { name: "new", maxTokens: 1.5 }, "block.maxTokens"],
  ["an unknown policy", { name: "new", policy: "truncate" }, "block.policy"],
  ["read-only in words", { name: "new", readOnly: "yes" }, "block.readOnly"],
  ["a description that is no text", { name: "new", description: 5 }, "block.description"],
  ["a counter that is no text", { name: "new", counter: 4 }, "block.counter"],
  ["an unknown key", { name: "new", maxToken: 5 }, "block"],
];

describe("bad input about blocks", () => {
  const newSession = sessionsAt(":memory:");

  it("is refused with the field named, and nothing is written", async () => {
    const blocks = newSession().blocks;
    const before = await blocks.create({ name: "persona", content: "one" });
    for (const [what, edit, field] of BAD_EDITS) {
      const refused = blocks.edit("persona", edit as BlockEditInput);
      await expect(refused, what).rejects.toMatchObject({ code: "invalid_input", details: { field } });
      await expect(refused, what).rejects.toThrow(field);
    }
    for (const [what, block, field] of BAD_BLOCKS) {
      const refused = blocks.create(block as { name: string });
      await expect(refused, what).rejects.toMatchObject({ code: "invalid_input", details: { field } });
    }
    const long = { code: "too_large", details: { field: "block.name" } };
    await expect(blocks.create({ name: "n".repeat(513) })).rejects.toMatchObject(long);
    await expect(blocks.rename("persona", "n".repeat(513))).rejects.toMatchObject(long);
    await expect(blocks.rename("persona", "")).rejects.toMatchObject({ details: { field: "block.name" } });
    const wordy = blocks.edit("persona", { content: "x", reason: "r".repeat(5_000) });
    await expect(wordy).rejects.toMatchObject({ code: "too_large", details: { field: "edit.reason" } });
    await expect(blocks.create({ name: "new", counter: "abacus" })).rejects.toMatchObject({
      code: "invalid_input",
      details: { counter: "abacus" },
    });
    await expect(blocks.configure("persona", { counter: "abacus" })).rejects.toMatchObject({ code: "invalid_input" });
    await expect(blocks.configure("persona", {})).rejects.toMatchObject({ details: { field: "settings" } });
    await expect(blocks.configure("persona", { maxTokens: -1 })).rejects.toMatchObject({
      code: "invalid_input",
      details: { field: "settings.maxTokens" },
    });
    await expect(blocks.history("persona", { limit: -1 })).rejects.toMatchObject({
      details: { field: "options.limit" },
    });
    await expect(blocks.version("persona", 0)).rejects.toMatchObject({ details: { field: "version" } });
    await expect(blocks.diff("persona", 1, 0.5)).rejects.toMatchObject({ details: { field: "to" } });
    await expect(blocks.restore("persona", Number.NaN)).rejects.toMatchObject({ details: { field: "version" } });
    expect(await blocks.list()).toEqual([before]);
    expect(await blocks.history("persona", { limit: 0 })).toEqual([]);
  });

  it("never contains the text in its errors", async () => {
    const blocks = newSession().blocks;
    await blocks.create({ name: "persona", content: "secret-text secret-text", maxTokens: 1, policy: "manual" });
    await blocks.configure("persona", { policy: "refuse" });
    const edits: BlockEditInput[] = [
      { replace: "secret-text", with: "x" },
      { replace: "secret-other", with: "x" },
      { patch: "@@ -1,1 +1,1 @@\n-secret-other\n+x\n" },
      { patch: "@@ secret-other" },
      { append: "secret-more" },
    ];
    for (const edit of edits) {
      const error: unknown = await blocks.edit("persona", edit).catch((refusal: unknown) => refusal);
      expect(error).toBeInstanceOf(Error);
      const { message, hint, details } = error as { message: string; hint: string; details: object };
      expect(JSON.stringify([message, hint, details])).not.toContain("secret");
    }
  });

  it("about a block that does not exist is reported by every call that needs one", async () => {
    const blocks = newSession().blocks;
    await blocks.create({ name: "persona", content: "one" });
    const calls: readonly (() => Promise<unknown>)[] = [
      () => blocks.edit("Persona", { content: "x" }),
      () => blocks.rename("Persona", "other"),
      () => blocks.configure("Persona", { maxTokens: 5 }),
      () => blocks.delete("Persona"),
      () => blocks.history("Persona"),
      () => blocks.version("Persona", 1),
      () => blocks.diff("Persona", 1, 1),
      () => blocks.restore("Persona", 1),
      () => blocks.archiveOverflow("Persona"),
    ];
    const missing = { code: "not_found", details: { name: "Persona" } };
    for (const call of calls) await expect(call()).rejects.toMatchObject(missing);
    expect(await blocks.get("Persona")).toBeUndefined();
    expect((await blocks.list()).map(({ name, version }) => [name, version])).toEqual([["persona", 1]]);
  });
});
