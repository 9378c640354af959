/** The registry, keys and the whole: the same in this process and behind a server. */
import { expect, it } from "vitest";
import type { Opened } from "./doors.js";

export function itRegistry(opened: () => Opened): void {
  it("registers users, agents and teams by name", async () => {
    for (const kind of ["users", "agents", "teams"] as const) {
      const entries = opened().memory[kind];
      const made = await entries.create("ada l.", "a person");
      expect(made).toMatchObject({ kind: kind.slice(0, -1), name: "ada l.", description: "a person" });
      expect(await entries.get("ada l.")).toEqual(made);
      expect(await entries.byId(made.id)).toEqual(made);
      expect(await entries.get("nobody")).toBeUndefined();
      expect(await entries.byId("nobody")).toBeUndefined();
      expect(await entries.ensure("ada l.")).toEqual(made);
      expect((await entries.ensure("bob")).name).toBe("bob");
      await expect(entries.create("bob")).rejects.toMatchObject({ code: "conflict" });
      expect(await entries.rename("bob", "carol/ü")).toMatchObject({ name: "carol/ü" });
      expect(await entries.describe("carol/ü", "new")).toMatchObject({ description: "new" });
      expect(await entries.describe("carol/ü", null)).not.toHaveProperty("description");
      expect(await entries.retain("carol/ü", 5000)).toMatchObject({ retentionMs: 5000 });
      expect(await entries.retain("carol/ü", null)).not.toHaveProperty("retentionMs");
      const first = await entries.list({ limit: 1 });
      expect(first.items).toMatchObject([{ name: "ada l." }]);
      const second = await entries.list(first.next === undefined ? {} : { cursor: first.next });
      expect(second.items).toMatchObject([{ name: "carol/ü" }]);
      expect(await entries.delete("carol/ü")).toMatchObject({ entries: 1 });
      await expect(entries.rename("nobody", "x")).rejects.toMatchObject({ code: "not_found" });
    }
  });

  it("registers sessions, which belong to a space", async () => {
    const { sessions } = opened().memory;
    const crew = { team: "crew" };
    const made = await sessions.create(crew, "monday", "tutor");
    expect(made).toMatchObject({ name: "monday", space: crew, agent: "tutor" });
    await sessions.create(crew, "tuesday", "pilot");
    await sessions.create({ agent: "tutor" }, "own");
    expect(await sessions.get(crew, "monday")).toEqual(made);
    expect(await sessions.get(crew, "sunday")).toBeUndefined();
    expect(await sessions.byId(made.id)).toEqual(made);
    await expect(sessions.create(crew, "monday")).rejects.toMatchObject({ code: "conflict" });
    expect(await sessions.rename(crew, "tuesday", "wednesday")).toMatchObject({ name: "wednesday" });
    const names = async (options: Parameters<typeof sessions.list>[0]) =>
      (await sessions.list(options)).items.map(({ name }) => name).toSorted();
    expect(await names({ space: crew })).toEqual(["monday", "wednesday"]);
    expect(await names({ space: crew, agent: "pilot" })).toEqual(["wednesday"]);
    expect(await names({ space: { agent: "tutor" } })).toEqual(["own"]);
    expect(await names({ agent: "tutor" })).toEqual(["monday"]);
    expect(await names({})).toEqual(["monday", "own", "wednesday"]);
    const first = await sessions.list({ space: crew, limit: 1 });
    expect(await names({ space: crew, ...(first.next !== undefined && { cursor: first.next }) })).toHaveLength(1);
    const newest = await sessions.list({ space: crew, order: "desc", limit: 1 });
    expect(newest.items.map(({ name }) => name)).toEqual(["wednesday"]);
    const older = { space: crew, ...(newest.next !== undefined && { cursor: newest.next }) };
    expect(await names({ ...older, order: "desc" })).toEqual(["monday"]);
    await expect(sessions.list(older), "a cursor of the other order").rejects.toMatchObject({ code: "invalid_input" });
    expect(await sessions.delete(crew, "monday")).toMatchObject({ sessions: 1 });
  });

  it("forgets a scope, flushes, and reports its health", async () => {
    const { memory } = opened();
    await memory.session({ user: "eve", session: "s" }).add([{ role: "user", content: "to be forgotten" }]);
    expect(await memory.flush()).toEqual({ pending: 0, parked: 0 });
    const stats = await memory.stats();
    expect(stats).toMatchObject({ store: { pending: 0 }, health: expect.any(Object), latencies: expect.any(Object) });
    expect(stats.health.components.write).toEqual({ state: "ok" });
    expect(stats.targets).toContainEqual({
      ...{ area: "health", name: "transferRate", goal: { from: 10, to: 100, alert: 500 }, unit: "per minute" },
      ...{ condition: "no data", value: expect.any(Number) },
    });
    expect(await memory.forget({ user: "eve" })).toMatchObject({ items: 1, entries: 1, purged: true });
    expect(await memory.users.get("eve")).toBeUndefined();
  });

  it("makes API keys, lists them without their secrets, and revokes them", async () => {
    const { keys } = opened().memory;
    const expiresAt = new Date(opened().clock.now() + 1000);
    const made = await keys.create({ name: "for a test", access: "read", spaces: [{ user: "ada l." }], expiresAt });
    expect(made.secret).toMatch(/^hf_/);
    expect(made.key).toMatchObject({ name: "for a test", access: "read", expiresAt: expiresAt.getTime() });
    expect((await keys.list({ limit: 10 })).items).toEqual([made.key]);
    expect(await keys.revoke(made.key.id)).toMatchObject({ id: made.key.id, revokedAt: opened().clock.now() });
    await expect(keys.revoke("nothing")).rejects.toMatchObject({ code: "not_found" });
  });
}
