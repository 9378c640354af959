/** What an import accepts, refuses, repeats and leaves unchanged. */
import { afterEach, describe, expect, it } from "vitest";
import { HoldfastError } from "../errors.js";
import { type Memory, openMemory } from "../memory.js";
import { HashEmbedder } from "../testing/hash-embedder.js";
import type { Item } from "../types.js";
import { exportLines } from "./export.js";
import { importLines } from "./import.js";
import type { ImportOptions } from "./import-options.js";

type Fields = { readonly [key: string]: unknown };

const memories: Memory[] = [];

afterEach(async () => {
  for (const memory of memories.splice(0)) await memory.close();
});

async function opened(): Promise<Memory> {
  const memory = await openMemory({ path: ":memory:", buffer: { hybridBuffer: { embeddingModel: "none" } } });
  memories.push(memory);
  return memory;
}

const HEADER = { type: "holdfast", version: 1, exportedAt: 0 };
const ADA = { user: "ada" };
const item = (id: string, more: Fields = {}): Fields => ({
  ...{ type: "item", space: ADA, id, kind: "message", role: "user", content: `secret ${id}`, occurredAt: 1000 },
  ...more,
});
const textOf = (lines: readonly (Fields | string)[]) =>
  lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line)));

/** Adds the end line that an export of these lines would have. */
function whole(lines: readonly (Fields | string)[]): readonly (Fields | string)[] {
  const counts: { [type: string]: number } = { ...END.counts };
  for (const line of lines)
    if (typeof line === "object") counts[String(line["type"])] = (counts[String(line["type"])] ?? 0) + 1;
  const { holdfast: headers = 0, end: ends = 0, ...body } = counts;
  return headers === 1 && ends === 0 ? [...lines, { type: "end", counts: body }] : lines;
}

const run = (memory: Memory, lines: readonly (Fields | string)[], options?: ImportOptions) =>
  importLines(memory, textOf(whole(lines)), options);

async function failure(work: Promise<unknown>): Promise<HoldfastError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof HoldfastError)) throw new Error(`expected a failure, got ${String(error)}`);
  expect(`${error.message} ${error.hint} ${JSON.stringify(error.details)}`, "no content").not.toContain("secret");
  return error;
}

async function itemsOf(memory: Memory, scope: Fields = ADA): Promise<readonly Item[]> {
  return (await memory.session(scope).list({ limit: 1000, order: "asc" })).items;
}

const idsOf = async (memory: Memory, scope?: Fields) => (await itemsOf(memory, scope)).map(({ id }) => id);

async function exported(memory: Memory): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of exportLines(memory)) lines.push(line);
  return lines;
}

it("keeps metadata.__proto__ of an exported line and of a plain message", async () => {
  const metadata = '{"__proto__":{"__proto__":1},"constructor":2}';
  const plain = `{"id":"plain","role":"user","content":"x","metadata":${metadata}}`;
  const exportedItem = JSON.stringify(item("whole")).replace("{", `{"metadata":${metadata},`);
  for (const lines of [[plain], [JSON.stringify(HEADER), exportedItem, JSON.stringify(ONE_ITEM)]]) {
    const memory = await opened();
    await run(memory, lines, { scope: ADA });
    expect((await itemsOf(memory)).map((one) => JSON.stringify(one.metadata))).toEqual([metadata]);
  }
});

describe("plain messages", () => {
  const plain = [
    { role: "user", content: "hello", occurredAt: "2026-01-01T00:00:00Z", metadata: { a: 1 } },
    "",
    { role: "assistant", content: "hi", name: "Bot", session: "tuesday" },
    { id: "own", role: "user", content: "bye" },
    { role: "user", content: "hello" },
  ];
  const scope = { user: "ada", agent: "tutor", session: "monday" };

  it("go where the scope says, and are added once however often they are imported", async () => {
    const memory = await opened();
    expect(await run(memory, plain, { scope })).toMatchObject({ lines: 5, items: 4, repeated: 0 });
    expect(await run(memory, plain, { scope })).toMatchObject({ items: 0, repeated: 4 });
    const items = await itemsOf(memory);
    expect(items.map(({ content, session, round }) => [content, session, round])).toEqual([
      ["hello", "monday", 1],
      ["hi", "tuesday", 1],
      ["bye", "monday", 2],
      ["hello", "monday", 3],
    ]);
    expect(items[0]).toMatchObject({ agent: "tutor", occurredAt: Date.UTC(2026, 0, 1), metadata: { a: 1 } });
    expect(items[2]?.id).toBe("own");
    expect(await run(memory, plain, { scope: { ...scope, user: "bob" } })).toMatchObject({ items: 4 });
  });

  it("need a scope, and are refused by line", async () => {
    const memory = await opened();
    expect((await failure(run(memory, plain))).hint).toContain("scope");
    const error = await failure(run(memory, [...plain, { role: "user", text: "secret" }], { scope }));
    expect(error).toMatchObject({ code: "invalid_input", details: { line: 6, report: { items: 4 } } });
    expect(error.message).toContain('line 6: the line has an unknown key "text"');
  });

  it("with a byte order mark and Windows line ends are read all the same; a cut line is refused", async () => {
    const memory = await opened();
    const lines = ['\uFEFF{"role":"user","content":"one"}\r', '{"role":"user","content":"two"}\r', '{"role":"us'];
    expect(await failure(run(memory, lines, { scope }))).toMatchObject({
      message: "line 3: not a JSON object",
      details: { line: 3, report: { items: 2 } },
    });
  });
});

describe("an import", () => {
  it.each([
    ["nothing at all", [], "there is nothing to import"],
    ["empty lines", ["", " "], "there is nothing to import"],
    ["one line of garbage", ["hello"], "line 1: not a JSON object"],
    ["two lines of garbage", ["hello", "world"], "line 1: not a JSON object"],
    ["garbage after a message", ['{"role":"user","content":"x"}', "hello"], "line 2: not a JSON object"],
    ["a list", ["[]"], "line 1: not a JSON object"],
    ["a header alone", [JSON.stringify(HEADER)], "the file was truncated after line 1: it has no end line"],
  ])("fails on %s", async (_, lines, message) => {
    const memory = await opened();
    expect(await failure(importLines(memory, lines, { scope: ADA }))).toMatchObject({
      code: "invalid_input",
      message,
      hint: expect.any(String),
      details: { line: expect.any(Number), report: { lines: expect.any(Number) } },
    });
  });

  it("fails when the file is not whole, and has imported what there is", async () => {
    const source = await opened();
    await source.session(ADA).add([1, 2, 3].map((n) => ({ role: "user", content: `${n}` })));
    const lines = await exported(source);
    const cuts: readonly (readonly string[])[] = [
      lines.slice(0, -1),
      [...lines.slice(0, -1), (lines.at(-1) ?? "").slice(0, 9)],
      lines.filter((_, at) => at !== 3),
    ];
    for (const cut of cuts) {
      const memory = await opened();
      expect(await failure(importLines(memory, cut))).toMatchObject({ code: "invalid_input" });
      expect(await itemsOf(memory)).not.toHaveLength(0);
      expect(await importLines(memory, lines)).toMatchObject({ conflicts: 0 });
      expect(await itemsOf(memory)).toHaveLength(3);
    }
  });

  it("names the wrong line, without its content, after the lines before it are written", async () => {
    const wrong: readonly (readonly [Fields | string, RegExp])[] = [
      ['{"secret', /not a JSON object/],
      ["[]", /not a JSON object/],
      [{ type: "secret thing" }, /type is unknown/],
      [item("x", { role: "boss" }), /line 3: role must be/],
      [item("x", { colour: "secret" }), /unknown key "colour"/],
      [item("x", { id: undefined }), /id must be a string/],
      [item("x", { space: {} }), /space must name/],
      [item("x", { round: -1 }), /round/],
      [{ type: "fact", space: ADA, id: "f" }, /confidence/],
      [fact({ spans: [{ from: 2, to: 1 }] }), /spans/],
      [fact({ spans: [{ from: 1, to: 2 }] }), /spans/],
      [fact({ state: "ended" }), /spans/],
      [fact({ sources: [] }), /sources/],
      [{ type: "block", space: ADA, id: "b", version: 0, name: "n" }, /version/],
      [{ type: "entry", kind: "boss", name: "n" }, /kind/],
      [{ type: "end", counts: {} }, /counts/],
      [{ ...HEADER }, /type is unknown/],
    ];
    for (const [line, message] of wrong) {
      const memory = await opened();
      const error = await failure(run(memory, [HEADER, item("a"), line, item("b")]));
      expect(error.message).toMatch(message);
      expect(error.message).toContain("line 3");
      expect(error).toMatchObject({ code: "invalid_input", details: { line: 3, report: { items: 1 } } });
      expect(await idsOf(memory)).toEqual(["a"]);
    }
    const memory = await opened();
    expect((await failure(run(memory, [{ ...HEADER, version: 2 }]))).message).toContain('version "2"');
    expect((await failure(run(memory, [HEADER, END, item("a")]))).message).toContain("after the end");
  });

  it("stops at an id that exists with other content, or continues if asked to", async () => {
    const memory = await opened();
    await memory.session(ADA).add([{ id: "b", role: "user", content: "another" }]);
    const lines = [HEADER, item("a"), item("b"), item("c"), item("c"), item("c", { content: "other" })];
    const error = await failure(run(memory, lines));
    expect(error).toMatchObject({ code: "conflict", details: { line: 3, id: "b", report: { items: 1 } } });
    expect(await idsOf(memory)).toEqual(["b", "a"]);
    const report = await run(memory, lines, { onConflict: "skip" });
    expect(report).toMatchObject({ items: 1, repeated: 2, conflicts: 2 });
    expect((await itemsOf(memory)).map(({ content }) => content)).toEqual(["another", "secret a", "secret c"]);
  });

  it("asks about each space before it writes anything of it", async () => {
    const lines = [
      HEADER,
      { type: "entry", kind: "user", name: "ada" },
      item("a"),
      item("b", { agent: "tutor" }),
      item("c", { space: { user: "bob" } }),
    ];
    const onlyAda = (space: object) => "user" in space && space.user === "ada";
    const first = await opened();
    const refused = await failure(run(first, lines, { allow: onlyAda }));
    expect(refused).toMatchObject({ code: "forbidden", details: { line: 4, space: { agent: "tutor" } } });
    expect(await idsOf(first)).toEqual(["a"]);
    expect((await first.agents.list()).items).toEqual([]);
    const second = await opened();
    const error = await failure(run(second, lines, { allow: (space, as) => as === "agent" || onlyAda(space) }));
    expect(error).toMatchObject({ code: "forbidden", details: { line: 5, report: { items: 2 } } });
    expect(await idsOf(second, { user: "bob" })).toEqual([]);
    const third = await opened();
    expect(await run(third, lines, { only: onlyAda })).toMatchObject({ items: 2, entries: 1, skipped: 1 });
    expect(await third.users.get("bob")).toBeUndefined();
  });

  it("puts what one space holds into another, but not two into one", async () => {
    const source = await opened();
    const session = source.session({ user: "ada", session: "monday" });
    const { ids } = await session.add([{ role: "user", content: "x" }]);
    await session.facts.upsert({ category: "c", content: "f", source: { message: String(ids[0]) } });
    await session.blocks.create({ name: "b", content: "t" });
    const lines = await exported(source);
    expect(await importLines(source, lines, { into: { team: "crew" } })).toMatchObject({
      items: 1,
      facts: 1,
      blocks: 1,
    });
    const crew = source.session({ team: "crew" });
    expect((await crew.list()).items).toHaveLength(2);
    expect((await crew.facts.list()).items[0]?.sources).toEqual([{ session: "monday", message: ids[0] }]);
    expect((await crew.blocks.get("b"))?.content).toBe("t");
    const two = run(await opened(), [HEADER, item("a"), item("b", { space: { user: "bob" } })], { into: ADA });
    expect(await failure(two)).toMatchObject({ code: "invalid_input", details: { line: 3 } });
  });

  it("makes rounds as they were: cut by batches, by other sessions, and by an earlier import that was stopped", async () => {
    const ids = (prefix: string, count: number) => Array.from({ length: count }, (_, at) => `${prefix}${at}`);
    const inRound = (round: number, session: string) => (id: string) => item(id, { session, round });
    const lines = [
      HEADER,
      ...ids("a", 200).map(inRound(1, "s")),
      ...ids("other", 3).map(inRound(1, "t")),
      ...ids("b", 400).map(inRound(1, "s")),
      ...ids("c", 2).map(inRound(7, "s")),
      ...ids("d", 2).map(inRound(9, "s")),
    ];
    const memory = await opened();
    await run(memory, lines.slice(0, 150));
    expect(await run(memory, lines)).toMatchObject({ items: 607 - 149, repeated: 149, conflicts: 0 });
    const items = await itemsOf(memory, { user: "ada", session: "s" });
    expect(items.map(({ id }) => id)).toEqual([...ids("a", 200), ...ids("b", 400), ...ids("c", 2), ...ids("d", 2)]);
    const rounds = items.map(({ round }) => round);
    expect(rounds).toEqual([...Array(600).fill(1), 601, 601, 603, 603]);
  });

  it("leaves out what has expired meanwhile, and facts that rest on nothing else", async () => {
    const memory = await opened();
    const lines = [
      HEADER,
      item("gone", { expiresAt: 1 }),
      item("here"),
      fact({ id: "fact-1", sources: [{ message: "gone" }] }),
      fact({ id: "fact-2", sources: [{ message: "gone" }, { message: "here" }] }),
      fact({ id: "fact-3", sources: [{ message: "fact-2" }], expiresAt: 1 }),
    ];
    expect(await run(memory, lines)).toMatchObject({ items: 1, facts: 1, skipped: 3 });
    const { items: facts } = await memory.session(ADA).facts.list();
    expect(facts.map(({ id, sources }) => [id, sources])).toEqual([["fact-2", [{ message: "here" }]]]);
  });

  it("leaves what is registered as it is: a file cannot shorten a retention", async () => {
    const memory = await opened();
    await memory.users.create("ada", "mine");
    const entry = (name: string) => ({ type: "entry", kind: "user", name, description: "theirs", retentionMs: 1000 });
    expect(await run(memory, [HEADER, entry("ada"), entry("bob")])).toMatchObject({ entries: 1, repeated: 1 });
    const ada = await memory.users.get("ada");
    expect(ada).toMatchObject({ description: "mine" });
    expect(ada).not.toHaveProperty("retentionMs");
    expect(await memory.users.get("bob")).toMatchObject({ description: "theirs", retentionMs: 1000 });
  });

  it("restores blocks version by version, also where a former name is another block's now", async () => {
    const source = await opened();
    const { blocks } = source.session(ADA);
    await blocks.create({ name: "x", content: "of first", reason: "start" });
    await blocks.create({ name: "y", content: "of second", description: "d", maxTokens: 50 });
    await blocks.rename("x", "z", { actor: "someone" });
    await blocks.rename("y", "x");
    await blocks.rename("z", "y");
    await blocks.edit("y", { append: "!", reason: "emphasis" });
    const lines = await exported(source);
    const memory = await opened();
    expect(await importLines(memory, lines)).toMatchObject({ blocks: 6, conflicts: 0 });
    const restored = memory.session(ADA).blocks;
    expect((await restored.list()).map(({ name, content, version }) => [name, content, version])).toEqual([
      ["x", "of second", 2],
      ["y", "of first\n!", 4],
    ]);
    expect((await restored.history("y")).map(({ reason, actor }) => [reason, actor])).toEqual(
      (await blocks.history("y")).map(({ reason, actor }) => [reason, actor]),
    );
    expect(await importLines(memory, lines)).toMatchObject({ blocks: 0, repeated: 7, conflicts: 0 });
    await restored.edit("y", { append: " later" });
    expect(await importLines(memory, lines), "a longer history is none").toMatchObject({ conflicts: 0 });
    await blocks.edit("y", { append: " elsewhere" });
    const error = await failure(importLines(memory, await exported(source)));
    expect(error).toMatchObject({ code: "conflict" });
  });

  it("names a fact that is there in another state", async () => {
    const source = await opened();
    const { fact: known } = await source.session(ADA).facts.upsert({ category: "c", content: "f" });
    const lines = await exported(source);
    const memory = await opened();
    await importLines(memory, lines);
    await memory.session(ADA).facts.retract(known.id);
    expect(await failure(importLines(memory, lines))).toMatchObject({ code: "conflict", details: { id: known.id } });
    expect(await importLines(memory, lines, { onConflict: "skip" })).toMatchObject({ conflicts: 1 });
    expect((await memory.session(ADA).facts.get([known.id]))[0]?.state).toBe("retracted");
  });

  it("of one who signs as itself alone writes no edit and no promotion of others", async () => {
    const block = (more: Fields) => ({
      type: "block",
      space: ADA,
      id: "b",
      version: 1,
      name: "n",
      content: "x",
      ...more,
    });
    const promotion = { type: "promotion", space: ADA, id: "p", reason: "r", at: 1, actor: "agent tutor" };
    const signer = { own: "agent tutor", may: (actor: string) => actor === "agent tutor" };
    for (const line of [block({ actor: "agent boss" }), block({ actor: "user ada" }), promotion]) {
      const memory = await opened();
      const error = await failure(run(memory, [HEADER, item("a"), line], { signer }));
      expect(error).toMatchObject({ code: "forbidden", details: { line: 3, report: { items: 1 } } });
      expect(await memory.session(ADA).blocks.get("n")).toBeUndefined();
      expect((await memory.session(ADA).promotions()).items).toEqual([]);
    }
    for (const actor of [{}, { actor: "agent tutor" }]) {
      const memory = await opened();
      const versions = [block(actor), block({ ...actor, version: 2, content: "y" })];
      for (const blocks of [2, 0])
        expect(await run(memory, [HEADER, ...versions], { signer })).toMatchObject({ blocks });
      expect((await memory.session(ADA).blocks.history("n")).map((one) => one.actor)).toEqual(["agent tutor"]);
    }
    const nameless = { may: signer.may };
    expect((await failure(run(await opened(), [HEADER, block({})], { signer: nameless }))).code).toBe("forbidden");
  });

  it("restores actors as they were if no importer is given", async () => {
    const memory = await opened();
    const promotion = { type: "promotion", space: ADA, id: "p", reason: "r", at: 1, actor: "agent boss" };
    const block = { type: "block", space: ADA, id: "b", version: 1, name: "n", content: "x", actor: "agent boss" };
    await run(memory, [HEADER, block, { ...block, version: 2, content: "y" }, promotion]);
    expect((await memory.session(ADA).blocks.history("n"))[0]?.actor).toBe("agent boss");
    expect((await memory.session(ADA).promotions()).items).toMatchObject([{ actor: "agent boss", at: 1 }]);
  });

  it("has what it wrote embedded, like anything that is added", async () => {
    const memory = await openMemory({ path: ":memory:", embedder: new HashEmbedder(), buffer: { enabled: false } });
    memories.push(memory);
    await run(memory, [HEADER, item("a", { session: "s", round: 1 }), item("b"), fact({})]);
    expect((await memory.stats()).store).toMatchObject({ pending: 0, embedded: 3 });
  });

  it("can be stopped between any two batches and run again", async () => {
    const ids = Array.from({ length: 700 }, (_, at) => `m${at}`);
    const lines = [HEADER, ...ids.map((id, at) => item(id, { session: "s", round: at + 1 }))];
    const memory = await opened();
    for (let batches = 1; batches < 3; batches++) {
      const control = new AbortController();
      let left = batches;
      const onProgress = () => {
        left--;
        if (left === 0) control.abort();
      };
      await expect(run(memory, lines, { onProgress, signal: control.signal })).rejects.toThrow(/abort/i);
      expect(await itemsOf(memory)).toHaveLength(256 * batches);
    }
    expect(await run(memory, lines)).toMatchObject({ items: 700 - 512, repeated: 512 });
    const items = await itemsOf(memory, { user: "ada", session: "s" });
    expect(items.map(({ id, sequence }) => [id, sequence])).toEqual(ids.map((id, at) => [id, at + 1]));
  });
});

const END = {
  type: "end",
  counts: { entry: 0, session: 0, item: 0, block: 0, fact: 0, superseded: 0, promotion: 0 },
};

const ONE_ITEM = { ...END, counts: { ...END.counts, item: 1 } };

function fact(more: Fields): Fields {
  const standing = { confidence: 1, pinned: false, state: "holds", spans: [{ from: 1 }], sources: [{}] };
  return { type: "fact", space: ADA, id: "fact-x", category: "c", content: "secret f", ...standing, ...more };
}

it("refuses a plain message that is nested too deeply, by its line", async () => {
  const memory = await opened();
  const deep = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
  const line = `{"role":"user","content":[{"type":"x","data":${deep}}]}`;
  const error = await failure(importLines(memory, [line], { scope: ADA }));
  expect([error.code, error.details["line"]]).toEqual(["invalid_input", 1]);
});

it("of very many empty lines lets others run", async () => {
  const memory = await opened();
  let turns = 0;
  const turn = (): void => {
    turns++;
    timer = setImmediate(turn);
  };
  let timer = setImmediate(turn);
  const lines = Array.from({ length: 200_000 }, () => "");
  await expect(importLines(memory, lines, { scope: ADA })).rejects.toMatchObject({ code: "invalid_input" });
  clearImmediate(timer);
  expect(turns).toBeGreaterThan(100);
});
