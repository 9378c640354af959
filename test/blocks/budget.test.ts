/** The budget of a block, and what happens to the rest: refused, kept, or archived where it can be found. */
import fc from "fast-check";
import * as o200k from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { open } from "../support/opened.js";
import { sessionsAt } from "./stores.js";

const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });
const graphemesOf = (text: string): string[] => [...segmenter.segment(text)].map(({ segment }) => segment);

const MODEL = "gpt-4o-mini";
/** The model's own vocabulary, independent of the package's counting. */
const modelTokens = (text: string): number => o200k.encode(text, { disallowedSpecial: new Set() }).length;

/** Eight words of five letters each: forty characters, ten tokens of four. */
const FORTY = "alpha bravo delta gamma sigma omega kappa ";

describe("the budget of a block", () => {
  const newSession = sessionsAt(":memory:");

  it("with the policy refuse, rejects what is larger, and nothing is written", async () => {
    const { blocks } = newSession();
    const refusal = { code: "too_large", details: { maxTokens: 2, counter: "chars4" } };
    const small = { name: "small", maxTokens: 2, policy: "refuse" } as const;
    await expect(blocks.create({ ...small, content: "123456789" })).rejects.toMatchObject(refusal);
    expect(await blocks.list()).toEqual([]);
    const full = await blocks.create({ ...small, content: "12345678" });
    await expect(blocks.edit("small", { append: "" })).resolves.toMatchObject({ version: 2 });
    await expect(blocks.edit("small", { append: "9" })).rejects.toMatchObject(refusal);
    await expect(blocks.edit("small", { content: "abcdefghi" })).rejects.toMatchObject(refusal);
    expect(await blocks.get("small")).toMatchObject({ content: full.content, version: 2 });
    expect(await blocks.history("small")).toHaveLength(1);
    // Characters as people see them: this family is one.
    expect(await blocks.edit("small", { content: "👩‍👩‍👧‍👦".repeat(8) })).toMatchObject({ version: 3 });
    await expect(blocks.edit("small", { content: "👩‍👩‍👧‍👦".repeat(9) })).rejects.toMatchObject(refusal);
  });

  it("with the policy manual, the default, has no effect until the block is cut", async () => {
    const session = newSession();
    const { blocks } = session;
    await blocks.create({ name: "small", content: FORTY, maxTokens: 2 });
    await blocks.edit("small", { append: "zulu" });
    expect((await blocks.get("small"))?.content).toBe(`${FORTY}\nzulu`);
    expect((await session.list({ kind: "overflow" })).items).toEqual([]);
    const cut = await blocks.archiveOverflow("small", { reason: "tidying", actor: "a person" });
    expect(cut).toMatchObject({
      version: 3,
      content: FORTY.slice(0, 8),
      archived: { text: `${FORTY.slice(8)}\nzulu` },
    });
    expect((await blocks.history("small"))[0]).toMatchObject({ version: 3, reason: "tidying", actor: "a person" });
    expect(await blocks.archiveOverflow("small")).toBeUndefined();
    expect((await blocks.get("small"))?.version).toBe(3);
  });

  it("with the policy archive, moves the rest to an item, in the same commit, that is searchable at once", async () => {
    const session = newSession();
    const { blocks } = session;
    expect(await session.query("walrus")).toHaveLength(0);
    const created = await blocks.create({ name: "sea", content: "12345678walrus", maxTokens: 2, policy: "archive" });
    expect(created).toMatchObject({ content: "12345678", version: 1, archived: { text: "walrus" } });
    const [hit] = await session.query("walrus");
    expect(hit).toMatchObject({
      id: created.archived?.id,
      kind: "overflow",
      tier: "semantic",
      agent: "tutor",
      content: "walrus",
      metadata: { block: created.id, blockName: "sea", blockVersion: 1 },
    });
    expect(hit).not.toHaveProperty("session");
    await blocks.rename("sea", "ocean");
    const edited = await blocks.edit("ocean", { append: "narwhal", reason: "heard of it" });
    expect(edited).toMatchObject({ content: "12345678", version: 3, archived: { text: "\nnarwhal" } });
    expect((await session.query("narwhal", { kind: "overflow" })).map(({ id, metadata }) => [id, metadata])).toEqual([
      [edited.archived?.id, { block: created.id, blockName: "ocean", blockVersion: 3 }],
    ]);
    expect(await blocks.history("ocean")).toMatchObject([{ version: 3, reason: "heard of it", old: "12345678" }, {}]);
    // What fits is not archived.
    expect(await blocks.edit("ocean", { content: "seal" })).not.toHaveProperty("archived");
  });

  it("is counted by the block's counter", async () => {
    const { blocks } = newSession();
    const text = "internationalisation of tokenisation ".repeat(20).trimEnd();
    const tokens = modelTokens(text);
    const block = { content: text, policy: "refuse" } as const;
    await blocks.create({ ...block, name: "fits", maxTokens: tokens, counter: MODEL });
    await expect(blocks.create({ ...block, name: "not", maxTokens: tokens - 1, counter: MODEL })).rejects.toMatchObject(
      { code: "too_large", details: { maxTokens: tokens - 1, counter: MODEL } },
    );
    // By four characters per token it would be more.
    await expect(blocks.create({ ...block, name: "not", maxTokens: tokens })).rejects.toMatchObject({
      code: "too_large",
    });
    await blocks.configure("fits", { policy: "archive", maxTokens: 10 });
    const cut = await blocks.edit("fits", { append: "and more" });
    expect(cut.content + cut.archived?.text).toBe(`${text}\nand more`);
    expect(modelTokens(cut.content)).toBeLessThanOrEqual(10);
    expect(modelTokens(cut.content)).toBeGreaterThanOrEqual(8);
  });

  it("that is too small for the first character is refused, instead of leaving nothing", async () => {
    const { blocks } = newSession();
    const family = "👩‍👩‍👧‍👦 and friends";
    const before = await blocks.create({ name: "family", content: family, maxTokens: 1, counter: MODEL });
    expect(modelTokens("👩‍👩‍👧‍👦")).toBeGreaterThan(1);
    await expect(blocks.archiveOverflow("family")).rejects.toMatchObject({ code: "too_large" });
    expect(await blocks.get("family")).toEqual(before);
  });

  it.each([
    ["the end of a line in the last tenth", `${"x".repeat(94)}\n${"y".repeat(50)}`, 95],
    ["the first place of the last tenth", `${"x".repeat(89)}\n${"y".repeat(50)}`, 90],
    ["the limit, if the line ends before the last tenth", `${"x".repeat(88)}\n${"y".repeat(50)}`, 100],
    ["the end of a sentence in the last tenth", `${"x".repeat(94)}. ${"y".repeat(50)}`, 95],
    ["the end of a line rather than of a sentence", `${"x".repeat(91)}\nyes. ${"y".repeat(50)}`, 92],
    ["the limit, if nothing ends", "x".repeat(150), 100],
  ])("cuts at %s", async (_, content, end) => {
    const { blocks } = newSession();
    await blocks.create({ name: "cut", content, maxTokens: 25 });
    const cut = await blocks.archiveOverflow("cut");
    expect(cut?.content).toBe(content.slice(0, end));
    expect(cut?.archived?.text).toBe(content.slice(end));
  });

  it("when reduced, cuts nothing by itself, and when raised brings no text back", async () => {
    const { blocks } = newSession();
    await blocks.create({ name: "small", content: FORTY, maxTokens: 100, policy: "archive" });
    expect((await blocks.configure("small", { maxTokens: 2 })).content).toBe(FORTY);
    expect((await blocks.archiveOverflow("small"))?.content).toBe(FORTY.slice(0, 8));
    expect((await blocks.configure("small", { maxTokens: 100 })).content).toBe(FORTY.slice(0, 8));
    // The log still has it.
    expect((await blocks.restore("small", 1)).content).toBe(FORTY);
  });
});

const anyText = fc
  .array(
    fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.string({ unit: "binary" }),
      fc.constantFrom(
        "A sentence. ",
        "a line\n",
        "\r\n",
        "句子。",
        "👨‍👩‍👧‍👦",
        "e\u0301",
        "क्षत्रिय",
        "🇵🇹🇩🇪",
        "      ",
        "\u0000",
        "\ud800",
      ),
    ),
    { maxLength: 20 },
  )
  .map((parts) => parts.join(""));

/** As content is repaired everywhere. */
const repaired = (text: string): string => text.toWellFormed().replaceAll("\0", "\ufffd");

describe("any text and any budget", () => {
  const newSession = sessionsAt(":memory:");
  const numRuns = 220;

  it("by characters: the block keeps a head within its budget, in whole graphemes, and nothing is lost", async () => {
    const session = newSession();
    let run = 0;
    await fc.assert(
      fc.asyncProperty(anyText, anyText, fc.integer({ min: 1, max: 30 }), async (first, second, maxTokens) => {
        const name = `block ${run++}`;
        const created = await session.blocks.create({ name, content: first, maxTokens, policy: "archive" });
        expect(created.content + (created.archived?.text ?? "")).toBe(repaired(first));
        const next = await session.blocks.edit(name, { content: second });
        const whole = repaired(second);
        expect(next.content + (next.archived?.text ?? "")).toBe(whole);
        for (const [block, text] of [
          [created, repaired(first)],
          [next, whole],
        ] as const) {
          const kept = graphemesOf(block.content);
          expect(kept.length).toBeLessThanOrEqual(maxTokens * 4);
          expect(block.content === "").toBe(text === "");
          expect(graphemesOf(text).slice(0, kept.length)).toEqual(kept);
          expect(block.archived === undefined).toBe(graphemesOf(text).length <= maxTokens * 4);
          if (!block.archived) continue;
          const [item] = await session.get([block.archived.id]);
          expect(item).toMatchObject({
            kind: "overflow",
            content: block.archived.text,
            metadata: { block: block.id, blockName: name, blockVersion: block.version },
          });
        }
      }),
      { numRuns },
    );
  });

  it("by a model's tokens: the same, or it is refused because nothing would be left", async () => {
    const session = newSession();
    let run = 0;
    await fc.assert(
      fc.asyncProperty(anyText, fc.integer({ min: 1, max: 40 }), async (content, maxTokens) => {
        const name = `block ${run++}`;
        const text = repaired(content);
        const [first = ""] = graphemesOf(text);
        const { blocks } = session;
        const create = blocks.create({ name, content, maxTokens, counter: MODEL, policy: "archive" });
        const block = await create.catch((error: unknown) => {
          expect(error).toMatchObject({ code: "too_large" });
          expect(modelTokens(first)).toBeGreaterThan(maxTokens);
        });
        if (!block) return;
        expect(modelTokens(block.content)).toBeLessThanOrEqual(maxTokens);
        expect(block.content + (block.archived?.text ?? "")).toBe(text);
        expect(block.content === "").toBe(text === "");
        expect(graphemesOf(text).slice(0, graphemesOf(block.content).length)).toEqual(graphemesOf(block.content));
        expect(block.archived === undefined).toBe(modelTokens(text) <= maxTokens);
      }),
      { numRuns },
    );
  });
});

it("a block of a hundred thousand characters is cut, and all of it is still there", async () => {
  const memory = await open({ path: ":memory:" });
  const session = memory.session({ user: "ada" });
  const content = Array.from({ length: 2_500 }, (_, at) => `line ${at} of a long story that is told. 🙂\n`).join("");
  const block = await session.blocks.create({ name: "story", content, policy: "archive" });
  expect([...block.content].length).toBeLessThanOrEqual(4_096 * 4); // each code point is a grapheme here
  expect(block.content.endsWith("\n")).toBe(true);
  expect(block.content + block.archived?.text).toBe(content);
  expect((await session.query("line 2499 of a story"))[0]?.id).toBe(block.archived?.id);
});
