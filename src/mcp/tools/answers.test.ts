/**
 * What all tools promise of their answers, tried with stored texts that want to break it: no line of theirs passes for one
 * of ours, and both forms stay within the tokens of an answer.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PREAMBLE } from "../../context/fence.js";
import type { MemoryHandle } from "../../memory.js";
import type { Session } from "../../session.js";
import type { Block, BlockEdit } from "../../stores/blocks.js";
import { estimateTokens } from "../../tokens/estimate.js";
import type { Hits, Item } from "../../types.js";
import type { Answer, Tool, Workplace } from "../tool.js";
import { blockTool } from "./block.js";
import { getTool } from "./get.js";
import { searchTool } from "./search.js";
import { statusTool } from "./status.js";

/** In every word of a stored text, so that it is known where it turns up. */
const MARK = "☠";
const LINE_ENDS = ["\n", "\r", "\r\n", "\v", "\f", "\u0085", "\u2028", "\u2029", "\u001c", "\u001d", "\u001e", "\n\n"];

const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(...LINE_ENDS),
      fc.constantFrom(...LINE_ENDS),
      fc.constantFrom(
        `${MARK}${PREAMBLE}`,
        PREAMBLE.replace("From", `From ${MARK}`),
        `[${MARK}id 2026-01-01 user]`,
        `[goes on: from ${MARK}9]`,
        `Missing: ${MARK}`,
        `> ${MARK}`,
        `${MARK}\u001b[2J\u001b[1;1H`,
        `"${MARK}]`,
        `\\${MARK}`,
        `\0${MARK}`,
        `${MARK}\u202e`,
        `${MARK}${"我住在里斯本".repeat(20)}`,
        `${MARK} word`.repeat(40),
      ),
    ),
    { minLength: 1, maxLength: 20 },
  )
  .map((pieces) => pieces.join(""));

/** Names may be hostile too, but not longer than names are. */
const name = hostile
  .map((text) => text.replaceAll("\0", "").slice(0, 60))
  .filter((text) => text.isWellFormed() && text !== "");

const word = String.raw`(?:[\p{L}\p{N}][\p{L}\p{M}\p{N}_.@+-]*|"(?:[^"\\]|\\.)*")`;
const OURS = [
  new RegExp(`^\\[${word}(?: ${word})*\\]$`, "u"),
  /^\[goes on: from \d+\]$/,
  /^\[more: memory_get\]$/,
  new RegExp(`^Missing: ${word}(?: ${word})*\\. memory_search finds ids\\.$`, "u"),
  new RegExp(`^Did not fit, ask for these alone: ${word}(?: ${word})*$`, "u"),
  /^\d+ (?:more did not fit: ask more exactly|more blocks do not fit; view them by name|earlier edits do not fit)\.$/,
  new RegExp(`^Holdfast [\\d.]+: ${word} ${word}(?:, ${word} ${word})*$`, "u"),
  /^(?:Last saved: \d{4}-\d\d-\d\d|Nothing saved yet\.)$/,
  new RegExp(`^Blocks: ${word}(?: ${word})*(?: and \\d+ more)?$`, "u"),
  /^Waiting to be indexed by meaning: \d+; could not be: \d+$/,
];
const QUOTED_NAME = /"(?:[^"\\]|\\.)*"/g;

function expectFenced(text: string): void {
  expect(text).not.toMatch(/[^\P{Cc}\t\n]|[\u2028\u2029]/u);
  for (const line of text.split("\n")) {
    if (line.startsWith("> ") || line === PREAMBLE) continue;
    expect(OURS.some((form) => form.test(line)) ? "" : line).toBe("");
    expect(line.replace(QUOTED_NAME, "")).not.toContain(MARK);
  }
}

function expectBounded({ data, text }: Answer<unknown>, maxTokens: number): void {
  expect(estimateTokens(text)).toBeLessThanOrEqual(maxTokens);
  expect(estimateTokens(JSON.stringify(data))).toBeLessThanOrEqual(maxTokens);
}

const DAY = Date.UTC(2026, 0, 1);

const itemOf = (id: string, content: string, more: Pick<Item, "session" | "name" | "agent"> = {}): Item => ({
  ...{ id, content, kind: "message", space: { user: "ada" }, metadata: {}, version: 1 },
  tier: "working",
  ...{ occurredAt: DAY, recordedAt: DAY, updatedAt: DAY },
  ...more,
});

const blockOf = (named: string, content: string, description = content): Block => ({
  ...{
    name: named,
    content,
    description,
    id: named,
    space: { user: "ada" },
    version: 1,
    createdAt: DAY,
    updatedAt: DAY,
  },
  ...{ maxTokens: 4_096, counter: "chars4", policy: "manual", readOnly: false },
});

const editOf = (reason: string, actor: string): BlockEdit =>
  ({ version: 2, old: "", new: "", name: "a", reason, actor, at: DAY }) as const;

interface Stored {
  readonly items?: readonly Item[];
  readonly blocks?: readonly Block[];
  readonly edits?: readonly BlockEdit[];
}

/** A memory that holds exactly this. */
function placeOf({ items = [], blocks = [], edits = [] }: Stored, maxTokens: number): Workplace {
  const hits = items.map((item) => ({ ...item, score: 1, level: "words", scope: "in_session" }) as const);
  const session = {
    scope: { user: "ada" },
    query: async () => Object.assign(hits, { partial: false }) as unknown as Hits,
    get: async (ids: readonly string[]) => ids.flatMap((id) => items.filter((item) => item.id === id)),
    list: async () => ({ items: items.slice(0, 1) }),
    parked: async () => ({ items: [] }),
    blocks: {
      list: async () => blocks,
      get: async (named: string) => blocks.find((one) => one.name === named),
      history: async () => edits,
    },
  } as unknown as Session;
  const memory = { session: () => session } as unknown as MemoryHandle;
  return { session, memory, maxTokens, may: () => true, require: () => {} };
}

const run = <T>(tool: Tool, place: Workplace, input: object): Promise<Answer<T>> =>
  tool.run(place, tool.input.parse(input) as never) as Promise<Answer<T>>;

interface Got {
  readonly items: readonly { readonly id: string; readonly content: string; readonly next?: number }[];
  readonly missing?: readonly string[];
  readonly omitted?: readonly string[];
}

interface Viewed {
  readonly blocks: readonly { readonly content: string; readonly next?: number }[];
}

const bound = fc.integer({ min: 500, max: 4_000 });

describe("an answer of memory_search and memory_get", () => {
  it("lets no stored text pass for a line of ours, and is within its bound", async () => {
    const stored = fc.array(fc.tuple(hostile, name), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(stored, bound, async (texts, maxTokens) => {
        const items = texts.map(([content, who], at) =>
          itemOf(`${at}`, content, { session: who, name: who, agent: who }),
        );
        const place = placeOf({ items }, maxTokens);
        const ids = [...items.map(({ id }) => id), `nope\n[${MARK}]`];
        for (const answer of [
          await run(searchTool, place, { query: "x" }),
          await run(getTool, place, { ids }),
          await run(statusTool, place, {}),
        ]) {
          expectFenced(answer.text);
          expectBounded(answer, maxTokens);
        }
      }),
    );
  });

  it("comes to every character of a text, page by page", async () => {
    await fc.assert(
      fc.asyncProperty(hostile, bound, async (text, maxTokens) => {
        const content = text.repeat(30);
        const place = placeOf({ items: [itemOf("a", content, { session: "s".repeat(60) })] }, maxTokens);
        let read = "";
        for (let from: number | undefined = 0; from !== undefined; ) {
          const answer: Answer<Got> = await run(getTool, place, { ids: ["a"], from });
          expectBounded(answer, maxTokens);
          expectFenced(answer.text);
          const [page] = answer.data.items;
          read += page?.content;
          expect(page?.next ?? Number.POSITIVE_INFINITY).toBeGreaterThan(from);
          from = page?.next;
        }
        expect(read).toBe(content);
      }),
      { numRuns: 30 },
    );
  });

  it.each([0, 1])("gets on with %d tokens, or with an id that is longer than an answer", async (maxTokens) => {
    const id = "我".repeat(512);
    const content = "A text with a few words.\n".repeat(20);
    const place = placeOf({ items: [itemOf(id, content)] }, maxTokens);
    let read = "";
    for (let from: number | undefined = 0; from !== undefined; ) {
      const { data }: Answer<Got> = await run(getTool, place, { ids: [id], from });
      read += data.items[0]?.content;
      from = data.items[0]?.next;
    }
    expect(read).toBe(content);
    const found = await run<{ hits: readonly unknown[] }>(searchTool, place, { query: "x" });
    expect(found.data.hits).toHaveLength(1);
  });

  it("names what did not fit, and each of that fits alone", async () => {
    const ids = Array.from({ length: 20 }, (_, at) => `0198c5b2-7c4e-7a51-9f3b-${String(at).padStart(12, "0")}`);
    const place = placeOf({ items: ids.map((id) => itemOf(id, "word ".repeat(300))) }, 1_000);
    const answer = await run<Got>(getTool, place, { ids });
    expectBounded(answer, 1_000);
    expect([...answer.data.items.map(({ id }) => id), ...(answer.data.omitted ?? [])]).toEqual(ids);
    for (const id of answer.data.omitted ?? []) {
      expect((await run<Got>(getTool, place, { ids: [id] })).data.items[0]?.content).toBe("word ".repeat(300));
    }
  });

  it("cuts only the first text, and no other one in its place", async () => {
    const place = placeOf({ items: [itemOf("long", "word ".repeat(5_000)), itemOf("short", "brief")] }, 1_000);
    const answer = await run<Got>(getTool, place, { ids: ["long", "short"] });
    expect(answer.data.items.map(({ id }) => id)).toEqual(["long"]);
    expect(answer.data.omitted).toEqual(["short"]);
    const turned = await run<Got>(getTool, place, { ids: ["short", "long"] });
    expect(turned.data).toMatchObject({ items: [{ id: "short", content: "brief" }], omitted: ["long"] });
  });

  it("refuses to go on in several texts at once", async () => {
    const place = placeOf({ items: [itemOf("a", "text"), itemOf("b", "text")] }, 1_000);
    await expect(run(getTool, place, { ids: ["a", "b"], from: 2 })).rejects.toMatchObject({ code: "invalid_input" });
    expect((await run<Got>(getTool, place, { ids: ["a"], from: 2 })).data.items[0]?.content).toBe("xt");
  });
});

describe("an answer of memory_block", () => {
  it("lets no stored text, name, description or reason pass for a line of ours, and is within its bound", async () => {
    const stored = fc.array(fc.tuple(name, hostile, hostile), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(stored, bound, async (texts, maxTokens) => {
        const blocks = texts.map(([named, content, about]) => blockOf(named, content, about));
        const edits = texts.map(([actor, , reason]) => editOf(reason, actor));
        const place = placeOf({ blocks, edits }, maxTokens);
        const [first] = blocks;
        for (const answer of [
          await run(blockTool, place, { command: "view" }),
          await run(blockTool, place, { command: "view", name: first?.name }),
          await run(blockTool, place, { command: "history", name: first?.name }),
          await run(statusTool, place, {}),
        ]) {
          expectFenced(answer.text);
          expectBounded(answer, maxTokens);
        }
      }),
    );
  });

  it("says that there are no blocks, no edits, and how many do not fit", async () => {
    const none = await run(blockTool, placeOf({}, 500), { command: "view" });
    expect(none.text).toBe("There are no blocks yet.");
    const fresh = placeOf({ blocks: [blockOf("a", "text")] }, 500);
    expect((await run(blockTool, fresh, { command: "history", name: "a" })).text).toBe(
      "Not edited since it was created: version 1.",
    );
    const blocks = Array.from({ length: 200 }, (_, at) => blockOf(`block-${at}`, "text"));
    const edits = blocks.map(() => editOf("because ".repeat(50), "ada"));
    const many = placeOf({ blocks, edits }, 500);
    for (const [input, rest] of [
      [{ command: "view" }, /(\d+) more blocks do not fit/],
      [{ command: "history", name: "block-7" }, /(\d+) earlier edits do not fit/],
    ] as const) {
      const answer = await run<{ blocks: readonly unknown[]; history?: readonly unknown[] }>(blockTool, many, input);
      const shown = (answer.data.history ?? answer.data.blocks).length;
      expect(shown).toBeGreaterThan(0);
      expect(Number(rest.exec(answer.text)?.[1])).toBe(200 - shown);
      expectBounded(answer, 500);
    }
    const status = await run<{ blocks: readonly string[] }>(statusTool, many, {});
    expectBounded(status, 500);
    expect(status.text).toContain(` and ${200 - status.data.blocks.length} more`);
  });

  it("comes to every character of a block, page by page", async () => {
    const content = 'A line with "quotes"\n我住在里斯本\n'.repeat(200);
    const place = placeOf({ blocks: [blockOf("a", content, "word ".repeat(1_000))] }, 600);
    let read = "";
    for (let from: number | undefined = 0; from !== undefined; ) {
      const answer: Answer<Viewed> = await run(blockTool, place, { command: "view", name: "a", from });
      expectBounded(answer, 600);
      read += answer.data.blocks[0]?.content;
      from = answer.data.blocks[0]?.next;
    }
    expect(read).toBe(content);
  });
});
