/** Every option of query and list has an effect, and no result is outside the scope. */
import type { Hits, Memory, QueryOptions, Session } from "holdfast";
import { beforeEach, describe, expect, it } from "vitest";
import { open } from "../support/opened.js";

const DAY = 86_400_000;
const T0 = Date.UTC(2026, 4, 1);

let memory: Memory;
let session: Session;

beforeEach(async () => {
  memory = await open({ path: ":memory:" });
  session = memory.session(
    { user: "ada", agent: "tutor", session: "s1" },
    { grants: [{ team: "crew" }, { user: "nobody" }] },
  );
  await session.add([
    { id: "a", role: "user", content: "boat one, a boat", occurredAt: T0, metadata: { topic: "sea", n: { deep: 1 } } },
    {
      id: "b",
      role: "assistant",
      content: "boat two and then some more words",
      occurredAt: T0 + DAY,
      tier: "semantic",
    },
  ]);
  await memory
    .session({ user: "ada", agent: "coach", session: "s2" })
    .add([{ id: "c", role: "user", content: "boat three", occurredAt: T0 + 2 * DAY, metadata: { topic: "lake" } }]);
  await memory
    .session({ user: "ada" })
    .addItems([{ id: "d", kind: "knowledge", content: "every boat floats", occurredAt: T0 + 3 * DAY }]);
  await memory.session({ user: "bob", session: "s1" }).add([{ id: "x", role: "user", content: "bob has a boat" }]);
  await memory.session({ team: "crew", session: "s1" }).add([{ id: "t", role: "user", content: "team boat" }]);
});

const ids = (hits: Hits): string[] => hits.map(({ id }) => id);

describe("query", () => {
  it("searches the whole user, and only the user, by default", async () => {
    expect(ids(await session.query("boat")).sort()).toEqual(["a", "b", "c", "d"]);
  });

  it.each<[string, QueryOptions, string[]]>([
    ["within the session", { within: "session" }, ["a", "b"]],
    ["within the agent", { within: "agent" }, ["a", "b"]],
    ["within the user", { within: "user" }, ["a", "b", "c", "d"]],
    ["by session", { session: "s2" }, ["c"]],
    ["by sessions", { session: ["s1", "s2"] }, ["a", "b", "c"]],
    ["by agent", { agent: "coach" }, ["c"]],
    ["by role", { role: "assistant" }, ["b"]],
    ["by kind", { kind: "knowledge" }, ["d"]],
    ["by kinds", { kind: ["knowledge", "message"] }, ["a", "b", "c", "d"]],
    ["by tier", { tier: "semantic" }, ["b"]],
    ["from a time on", { from: T0 + 2 * DAY }, ["c", "d"]],
    ["before a time", { to: new Date(T0 + DAY) }, ["a"]],
    ["in a range, as text", { from: "2026-05-02", to: "2026-05-03T00:00:00Z" }, ["b"]],
    ["by metadata", { metadata: { topic: "sea" } }, ["a"]],
    ["by any of several values", { metadata: { topic: ["sea", "lake"] } }, ["a", "c"]],
    ["by metadata inside", { metadata: { "n.deep": 1 } }, ["a"]],
    ["by all that is given", { metadata: { topic: "sea" }, role: "assistant" }, []],
    ["in named spaces", { spaces: [{ team: "crew" }] }, ["t"]],
    ["in several spaces", { spaces: [{ user: "ada" }, { team: "crew" }], kind: "message" }, ["a", "b", "c", "t"]],
    ["in a space that does not exist", { spaces: [{ user: "nobody" }] }, []],
    ["in a session that does not exist", { session: "nowhere" }, []],
  ])("narrows or widens %s", async (_, options, expected) => {
    expect(ids(await session.query("boat", { topK: 50, ...options })).sort()).toEqual(expected);
  });

  it("gives topK hits, the best first", async () => {
    const hits = await session.query("boat", { topK: 2 });
    expect(hits).toHaveLength(2);
    expect(hits[0]?.id).toBe("a");
    expect(hits[0]?.score).toBeGreaterThanOrEqual(hits[1]?.score ?? Number.POSITIVE_INFINITY);
    expect(ids(await session.query("boat", { topK: 1 }))).toEqual(["a"]);
  });

  it("sorts the best hits by score or time, either way", async () => {
    const best = ids(await session.query("boat"));
    expect(ids(await session.query("boat", { order: "asc" }))).toEqual([...best].reverse());
    expect(ids(await session.query("boat", { sortBy: "timestamp" }))).toEqual(["d", "c", "b", "a"]);
    expect(ids(await session.query("boat", { sortBy: "timestamp", order: "asc" }))).toEqual(["a", "b", "c", "d"]);
  });

  it("says where each hit comes from", async () => {
    const hits = await session.query("boat", { spaces: [{ user: "ada" }, { team: "crew" }] });
    const hit = (id: string) => hits.find((candidate) => candidate.id === id);
    expect(hit("a")).toMatchObject({ scope: "in_session", session: "s1", agent: "tutor", sequence: 1, level: "store" });
    expect(hit("c")).toMatchObject({ scope: "cross_session", session: "s2" });
    expect(hit("t")).toMatchObject({ scope: "cross_session", space: { team: "crew" }, session: "s1" });
    expect(hit("d")?.session).toBeUndefined();
    expect(hits.partial).toBe(false);
  });

  it("gives frozen answers", async () => {
    const hits = await session.query("boat");
    expect(() => (hits as unknown as unknown[]).push(1)).toThrow(TypeError);
    expect(() => Object.assign(hits[0] ?? {}, { content: "changed" })).toThrow(TypeError);
  });

  it("finds nothing for a question without words", async () => {
    for (const text of ["", "   ", "?!…", "\u0000"]) expect(await session.query(text)).toHaveLength(0);
  });

  it("takes operators of any query language as plain text", async () => {
    for (const text of [
      '"boat',
      "boat*",
      "boat AND NOT boat",
      "NEAR(boat)",
      "terms:boat",
      "boat'; DROP TABLE item;--",
    ]) {
      expect(ids(await session.query(text))).toContain("a");
    }
    expect((await memory.stats()).store.items).toBe(6);
  });

  it("never sees a message after its edit or delete", async () => {
    const texts = async (question: string) => (await session.query(question)).map(({ content }) => content).join();
    expect(await texts("boat")).toContain("boat one");
    await session.update("a", { content: "a plane" });
    expect(await texts("boat")).not.toContain("boat one");
    expect(ids(await session.query("plane"))[0]).toBe("a");
    await session.delete(["a"]);
    expect(await texts("plane boat")).not.toContain("plane");
  });

  it.each<[string, QueryOptions, string]>([
    ["an unknown option", { topk: 3 } as QueryOptions, "topK"],
    ["a topK of zero", { topK: 0 }, "topK"],
    ["an unknown order", { order: "down" as "desc" }, "desc"],
    ["an empty list of spaces", { spaces: [] }, "spaces"],
    ["a space of two kinds", { spaces: [{ user: "a", team: "b" }] }, "exactly one"],
  ])("refuses %s", async (_, options, mention) => {
    const error: unknown = await session.query("boat", options).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "invalid_input" });
    expect(`${(error as Error).message} ${(error as { hint?: string }).hint}`).toContain(mention);
  });

  it("refuses within a session or agent that the scope does not name", async () => {
    const user = memory.session({ user: "ada" });
    await expect(user.query("boat", { within: "session" })).rejects.toMatchObject({ code: "invalid_input" });
    await expect(user.query("boat", { within: "agent" })).rejects.toMatchObject({ code: "invalid_input" });
  });
});

describe("list", () => {
  it("pages by key through a session or a space, either way, while others add", async () => {
    const scope = memory.session({ user: "ada" });
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await scope.list({ limit: 1, order: "asc", ...(cursor !== undefined && { cursor }) });
      seen.push(...page.items.map(({ id }) => id));
      if (seen.length === 2) await session.add([{ id: "e", role: "user", content: "late" }]);
      cursor = page.next;
    } while (cursor !== undefined);
    expect(seen).toEqual(["a", "b", "c", "d", "e"]);
    expect((await session.list()).items.map(({ id }) => id)).toEqual(["e", "b", "a"]);
    expect((await scope.list({ sortBy: "timestamp", order: "asc", limit: 2 })).items.map(({ id }) => id)).toEqual([
      "a",
      "b",
    ]);
    expect((await scope.list({ role: "assistant" })).items.map(({ id }) => id)).toEqual(["b"]);
    await expect(scope.list({ cursor: "rubbish" })).rejects.toMatchObject({ code: "invalid_input" });
  });
});

describe("get and update", () => {
  it("gives items in the order asked for, and only of the own space", async () => {
    expect((await session.get(["c", "x", "a", "missing"])).map(({ id }) => id)).toEqual(["c", "a"]);
  });

  it("edits field by field, with a version each, and refuses a stale edit", async () => {
    expect(await session.update("a", { content: "new", metadata: { k: "v" }, name: "Ada" }, { expectVersion: 1 })).toBe(
      2,
    );
    const [item] = await session.get(["a"]);
    expect(item).toMatchObject({
      content: "new",
      metadata: { k: "v" },
      name: "Ada",
      version: 2,
      role: "user",
      sequence: 1,
    });
    await expect(session.update("a", { content: "late" }, { expectVersion: 1 })).rejects.toMatchObject({
      code: "conflict",
      details: { version: 2 },
    });
    expect(await session.update("a", { name: null, tier: "working", role: "system" })).toBe(3);
    const [later] = await session.get(["a"]);
    expect(later).toMatchObject({ tier: "working", role: "system", content: "new" });
    expect(later?.name).toBeUndefined();
    await expect(session.update("x", { content: "not mine" })).rejects.toMatchObject({ code: "not_found" });
  });
});
