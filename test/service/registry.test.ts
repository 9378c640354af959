/** Users, agents, teams and sessions by name. */
import { describe, expect, it } from "vitest";
import { open } from "../support/opened.js";

const ODD_NAMES = [
  "Ada & Bob",
  " spaced ",
  "名前",
  "مستخدم",
  "👩‍🚀",
  "a/../b",
  "%s",
  "O'Hara\"",
  "é",
  "e\u0301",
  "Ada",
  "ada",
];

describe("the registry", () => {
  it("registers the names in an add, and keeps all odd names distinct", async () => {
    const memory = await open({ path: ":memory:" });
    for (const name of ODD_NAMES) {
      await memory
        .session({ user: name, agent: name, session: name })
        .add([{ role: "user", content: `secret of ${name}` }]);
    }
    expect((await memory.users.list()).items.map(({ name }) => name)).toEqual(ODD_NAMES);
    expect((await memory.agents.list()).items.map(({ name }) => name)).toEqual(ODD_NAMES);
    for (const name of ODD_NAMES) {
      const hits = await memory.session({ user: name }).query("secret", { topK: 50 });
      expect(hits.map(({ content }) => content)).toEqual([`secret of ${name}`]);
      expect(hits[0]).toMatchObject({ session: name, agent: name });
    }
  });

  it("creates, finds, renames, describes and deletes", async () => {
    const memory = await open({ path: ":memory:" });
    const ada = await memory.users.create("ada", "a mathematician");
    expect(await memory.users.get("ada")).toEqual(ada);
    expect(await memory.users.byId(ada.id)).toEqual(ada);
    expect(await memory.users.ensure("ada")).toEqual(ada);
    await expect(memory.users.create("ada")).rejects.toMatchObject({ code: "conflict", details: { id: ada.id } });
    await memory.session({ user: "ada", session: "s" }).add([{ role: "user", content: "still mine" }]);
    await memory.users.create("bob");
    await expect(memory.users.rename("ada", "bob")).rejects.toMatchObject({ code: "conflict" });
    expect(await memory.users.rename("ada", "ada lovelace")).toMatchObject({ id: ada.id, name: "ada lovelace" });
    expect(await memory.users.get("ada")).toBeUndefined();
    expect(await memory.session({ user: "ada lovelace" }).query("mine")).toHaveLength(1);
    expect(await memory.session({ user: "ada" }).query("mine")).toHaveLength(0);
    expect((await memory.users.describe("bob", "a builder")).description).toBe("a builder");
    expect((await memory.users.describe("bob", null)).description).toBeUndefined();
    await expect(memory.users.rename("nobody", "x")).rejects.toMatchObject({ code: "not_found" });
    expect(await memory.users.delete("ada lovelace")).toMatchObject({ items: 1, sessions: 1, entries: 1 });
    expect(await memory.users.delete("ada lovelace")).toMatchObject({ items: 0, entries: 0 });
  });

  it("keeps sessions by name within their space", async () => {
    const memory = await open({ path: ":memory:" });
    const first = await memory.sessions.create({ user: "ada" }, "monday", "tutor");
    await memory.sessions.create({ user: "bob" }, "monday");
    await expect(memory.sessions.create({ user: "ada" }, "monday")).rejects.toMatchObject({ code: "conflict" });
    expect(await memory.sessions.get({ user: "ada" }, "monday")).toMatchObject({ id: first.id, agent: "tutor" });
    expect(await memory.sessions.byId(first.id)).toEqual(first);
    expect((await memory.sessions.list({ space: { user: "ada" } })).items).toHaveLength(1);
    expect((await memory.sessions.list({ agent: "tutor" })).items).toHaveLength(1);
    expect((await memory.sessions.list()).items).toHaveLength(2);
    const session = memory.session({ user: "ada", session: "monday" });
    await session.add([{ role: "user", content: "hello" }]);
    await memory.sessions.rename({ user: "ada" }, "monday", "tuesday");
    const renamed = memory.session({ user: "ada", session: "tuesday" });
    expect((await renamed.add([{ role: "user", content: "again" }])).sequences).toEqual([2]);
    expect((await session.list()).items).toHaveLength(0);
    expect(await memory.sessions.delete({ user: "ada" }, "tuesday")).toMatchObject({ items: 2, sessions: 1 });
    expect(await memory.sessions.get({ user: "ada" }, "tuesday")).toBeUndefined();
  });

  it("pages through many entries", async () => {
    const memory = await open({ path: ":memory:" });
    for (let at = 0; at < 25; at++) await memory.teams.create(`team ${at}`);
    const first = await memory.teams.list({ limit: 10 });
    const second = await memory.teams.list({ limit: 10, ...(first.next !== undefined && { cursor: first.next }) });
    const third = await memory.teams.list({ limit: 10, ...(second.next !== undefined && { cursor: second.next }) });
    expect([first, second, third].flatMap((page) => page.items.map(({ name }) => name))).toEqual(
      Array.from({ length: 25 }, (_, at) => `team ${at}`),
    );
    expect(third.next).toBeUndefined();
  });
});
