/** The contents of an export, and its options. */
import { afterEach, describe, expect, it } from "vitest";
import { type Memory, openMemory } from "../memory.js";
import { type ExportOptions, exportLines } from "./export.js";

type Fields = { readonly [key: string]: unknown };

let memory: Memory;

afterEach(async () => {
  await memory.close();
});

async function opened(): Promise<Memory> {
  memory = await openMemory({ path: ":memory:", buffer: { hybridBuffer: { embeddingModel: "none" } } });
  return memory;
}

async function linesOf(options?: ExportOptions): Promise<Fields[]> {
  const lines: Fields[] = [];
  for await (const line of exportLines(memory, options)) {
    expect(line, "one line for every reader").not.toMatch(/[\n\r\u2028\u2029]/);
    lines.push(JSON.parse(line) as Fields);
  }
  return lines;
}

const typesOf = (lines: readonly Fields[]) => lines.map(({ type }) => type);

describe("an export", () => {
  it("of nothing is a header and an end", async () => {
    await opened();
    const [header, end, ...more] = await linesOf();
    expect(header).toMatchObject({ type: "holdfast", version: 1 });
    expect(end).toMatchObject({ type: "end", counts: { entry: 0, item: 0 } });
    expect(more).toEqual([]);
  });

  it("exports items with all that is needed to write them again", async () => {
    const session = (await opened()).session({ user: "ada", agent: "tutor", session: "monday" });
    const parts = [
      { type: "text", text: "see" },
      { type: "image", alt: "a cat" },
    ] as const;
    const message = { id: "m1", role: "user", name: "Ada", metadata: { n: 1 }, tier: "working" } as const;
    await session.add([
      { ...message, content: parts, occurredAt: 1000, expiresAt: 9e12 },
      { id: "m2", role: "assistant", content: "a\nb\r\u2028\u2029\\u2028", occurredAt: 2000 },
    ]);
    await session.add([{ id: "m3", role: "user", content: "" }]);
    const items = (await linesOf()).filter(({ type }) => type === "item");
    expect(items[0]).toEqual({
      ...{ type: "item", space: { user: "ada" }, kind: "message", session: "monday", agent: "tutor", round: 1 },
      ...{ ...message, content: parts, occurredAt: 1000, expiresAt: 9e12, version: 1, recordedAt: expect.any(Number) },
    });
    expect(items[1]).toEqual({
      ...{
        type: "item",
        space: { user: "ada" },
        id: "m2",
        kind: "message",
        session: "monday",
        agent: "tutor",
        round: 1,
      },
      ...{
        role: "assistant",
        content: "a\nb\r\u2028\u2029\\u2028",
        occurredAt: 2000,
        version: 1,
        recordedAt: expect.any(Number),
      },
    });
    expect(items[2]).toMatchObject({ id: "m3", round: 3, content: "" });
  });

  it("exports a fact once, although it is also an item, and keeps overflowed text with its block", async () => {
    const session = (await opened()).session({ user: "ada" });
    await session.facts.upsert({ category: "place", content: "lives in Porto" });
    await session.addItems([{ kind: "fact", content: "no recorded fact" }]);
    await session.blocks.create({ name: "notes", maxTokens: 1, policy: "archive", content: "more than one token" });
    const lines = await linesOf();
    expect(typesOf(lines)).toEqual(["holdfast", "entry", "item", "item", "block", "fact", "end"]);
    const [overflow] = lines.filter(({ kind }) => kind === "overflow");
    const [block] = lines.filter(({ type }) => type === "block");
    expect(overflow?.["metadata"]).toMatchObject({ block: block?.["id"], blockVersion: 1 });
    expect(lines.at(-1)?.["counts"]).toMatchObject({ entry: 1, item: 2, block: 1, fact: 1 });
  });

  it("names the requested spaces and nothing of others", async () => {
    await opened();
    for (const user of ["ada", "bob", "cy"]) {
      await memory.session({ user, agent: "tutor", session: "s" }).add([{ role: "user", content: `of ${user}` }]);
    }
    const lines = await linesOf({ spaces: [{ user: "cy" }, { user: "ada" }, { user: "nobody" }] });
    const said = lines.filter(({ type }) => type === "item").map(({ content }) => content);
    expect(said).toEqual(["of cy", "of ada"]);
    expect(typesOf(lines)).toEqual(["holdfast", ..."entry entry session item session item end".split(" ")]);
    expect(await linesOf({ spaces: [] })).toHaveLength(2);
  });

  it("of one session has its items, and nothing that belongs to the space as a whole", async () => {
    await opened();
    const scope = { user: "ada", session: "monday" };
    await memory.session(scope).add([{ role: "user", content: "of monday" }]);
    await memory.session({ ...scope, session: "tuesday" }).add([{ role: "user", content: "of tuesday" }]);
    await memory.session(scope).facts.upsert({ category: "c", content: "f" });
    await memory.session(scope).blocks.create({ name: "b" });
    const lines = await linesOf({ spaces: [{ user: "ada" }], session: "monday" });
    expect(typesOf(lines)).toEqual(["holdfast", "entry", "session", "item", "end"]);
    expect(lines[3]).toMatchObject({ content: "of monday" });
    await expect(linesOf({ session: "monday" })).rejects.toMatchObject({ code: "invalid_input" });
  });

  it("takes back only its own cursors, with the same options", async () => {
    await opened();
    const messages = Array.from({ length: 150 }, (_, at) => ({ role: "user", content: `${at}` }) as const);
    for (const user of ["ada", "bob"]) await memory.session({ user, session: "s" }).add(messages);
    const lines = await linesOf({ spaces: [{ user: "ada" }] });
    const cursor = String(lines.find(({ type }) => type === "cursor")?.["cursor"]);
    const rest = await linesOf({ spaces: [{ user: "ada" }], cursor });
    expect(rest.length).toBeLessThan(lines.length);
    expect(rest.at(-1)).toEqual(lines.at(-1));
    for (const options of [{}, { spaces: [{ user: "bob" }] }, { spaces: [{ user: "ada" }], session: "s" }]) {
      await expect(linesOf({ ...options, cursor })).rejects.toMatchObject({ code: "invalid_input" });
    }
    for (const bad of ["", "?", Buffer.from("[1,2,3]").toString("base64url")]) {
      await expect(linesOf({ cursor: bad })).rejects.toMatchObject({ code: "invalid_input" });
    }
  });

  it("continues in the same space if it was renamed, and in the next one if it is gone", async () => {
    await opened();
    const messages = Array.from({ length: 300 }, (_, at) => ({ role: "user", content: `${at}` }) as const);
    for (const user of ["ada", "bob"]) await memory.session({ user, session: "s" }).add(messages);
    const lines = await linesOf();
    const at = lines.findIndex(({ type }) => type === "cursor");
    const cursor = String(lines[at]?.["cursor"]);
    const before = lines.slice(0, at).filter(({ type }) => type === "item").length;
    await memory.users.rename("ada", "ada the second");
    const rest = (await linesOf({ cursor })).filter(({ type }) => type === "item");
    expect(rest).toHaveLength(600 - before);
    expect(rest[0]?.["space"]).toEqual({ user: "ada the second" });
    await memory.users.delete("ada the second");
    const after = await linesOf({ cursor });
    expect(typesOf(after).slice(0, 2), "the next one from its start").toEqual(["session", "item"]);
    const left = after.filter(({ type }) => type === "item");
    expect(left.map(({ content }) => content)).toEqual(messages.map(({ content }) => content));
  });

  it("stops on request", async () => {
    await opened();
    await memory.session({ user: "ada" }).add([{ role: "user", content: "x" }]);
    const control = new AbortController();
    const lines = exportLines(memory, { signal: control.signal });
    await lines.next();
    control.abort();
    await expect(lines.next()).rejects.toThrow(/abort/i);
  });
});
