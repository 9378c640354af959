/** Expiry and retention: out of every answer at that moment, out of the file soon after. */
import { readFileSync } from "node:fs";
import { FakeClock } from "holdfast/testing";
import { describe, expect, it } from "vitest";
import { newPath, open } from "../support/opened.js";

const DAY = 86_400_000;

describe("what is over", () => {
  it("an expired message is in no answer, and its id is free", async () => {
    const clock = new FakeClock();
    const memory = await open({ path: ":memory:", clock });
    const session = memory.session({ user: "ada", session: "s" });
    await session.add([
      { id: "short", role: "user", content: "fleeting thought", expiresAt: clock.now() + DAY },
      { id: "long", role: "user", content: "lasting thought" },
    ]);
    expect(await session.query("thought")).toHaveLength(2);
    clock.advance(DAY - 1);
    expect(await session.query("thought")).toHaveLength(2);
    clock.advance(1);
    expect((await session.query("thought")).map(({ id }) => id)).toEqual(["long"]);
    expect(await session.get(["short"])).toEqual([]);
    expect((await session.list()).items.map(({ id }) => id)).toEqual(["long"]);
    await expect(session.update("short", { content: "x" })).rejects.toMatchObject({ code: "not_found" });
    await session.add([{ id: "short", role: "user", content: "a new one" }]);
    expect((await session.get(["short"]))[0]?.content).toBe("a new one");
  });

  it("retention counts from when an item was recorded, and can be taken back", async () => {
    const clock = new FakeClock();
    const memory = await open({ path: ":memory:", clock });
    const session = memory.session({ user: "ada", session: "s" });
    await session.add([{ id: "old", role: "user", content: "thought", occurredAt: 0 }]);
    await memory.users.retain("ada", 10 * DAY);
    expect(await session.query("thought")).toHaveLength(1);
    clock.set(clock.now() + 10 * DAY);
    expect(await session.query("thought")).toHaveLength(0);
    expect((await session.list()).items).toHaveLength(0);
    await memory.users.retain("ada", null);
    expect(await session.query("thought")).toHaveLength(1);
  });
});

describe("the sweep", () => {
  it("runs by itself once a minute and takes the bytes out of the file", async () => {
    const clock = new FakeClock();
    const path = newPath();
    const memory = await open({ path, clock });
    const session = memory.session({ user: "ada", session: "s" });
    await session.add([{ role: "user", content: "zanzibarquokka", expiresAt: clock.now() + 1_000 }]);
    await memory.users.create("bob");
    await memory.users.retain("bob", 1_000);
    await memory.session({ user: "bob" }).add([{ role: "user", content: "wombatmarmalade" }]);
    clock.advance(60_000);
    await memory.service.sweep();
    expect((await memory.stats()).store.items).toBe(0);
    const bytes = readFileSync(path).toString("latin1") + readFileSync(`${path}-wal`).toString("latin1");
    expect(bytes).not.toContain("zanzibarquokka");
    expect(bytes).not.toContain("wombatmarmalade");
    clock.advance(60_000);
    await memory.close();
    expect(clock.pending).toBe(0);
  });
});
