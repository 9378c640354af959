/** The stream of events: who receives which events, and when it ends. The clock is the test's. */
import { FakeClock } from "holdfast/testing";
import { beforeAll, describe, expect, it } from "vitest";
import { until } from "../support/until.js";
import { EventReader } from "./sse.js";
import { type Caller, startWithKeys } from "./started.js";
import { makeKey } from "./world.js";

const HEARTBEAT_MS = 15_000;
const clock = new FakeClock();

let anyone: Caller;
let admin: Caller;

beforeAll(async () => {
  ({ anyone, admin } = await startWithKeys({ clock }));
});

const add = (query: { readonly [name: string]: string }, content = "hello") =>
  admin.data<{ ids: string[] }>("POST /api/v1/messages", { query, body: { messages: [{ role: "user", content }] } });

async function listen(caller: Caller, query: { readonly [name: string]: string } = {}): Promise<EventReader> {
  const response = await caller.fetch("GET /api/v1/events", { query });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
  return new EventReader(response);
}

const keyFor = async (access: "read" | "write", ...spaces: Parameters<typeof makeKey>[1]["spaces"][number][]) => {
  const { id, secret } = await makeKey(admin, { access, spaces });
  return { id, caller: anyone.as(secret) };
};

describe("events", () => {
  it("contain ids and counts of what the key covers, with and without a scope", async () => {
    const { caller } = await keyFor("read", { user: "ada" }, { team: "crew" });
    const readers = [await listen(caller), await listen(caller, { user: "ada" }), await listen(admin)];
    await add({ user: "victim", session: "hidden" }, "secret words");
    const { ids } = await add({ user: "ada", session: "first" }, "secret words");
    const [all, scoped, everything] = readers;
    const event = { type: "added", data: expect.objectContaining({ type: "added", space: { user: "ada" }, ids }) };
    expect(await all?.next()).toEqual(event);
    expect(await scoped?.next()).toEqual(event);
    const seen = [await everything?.next(), await everything?.next()];
    expect(seen).toEqual([expect.objectContaining({ data: expect.objectContaining({ session: "hidden" }) }), event]);
    expect(JSON.stringify(seen)).not.toContain("secret words");
    for (const reader of readers) await reader.close();
  });

  it("of a session are those of the session", async () => {
    const reader = await listen(admin, { user: "bob", session: "one" });
    await add({ user: "bob", session: "two" });
    const { ids } = await add({ user: "bob", session: "one" });
    expect(await reader.next()).toMatchObject({ data: { session: "one", ids } });
    await reader.close();
  });

  it("of all users are none of teams", async () => {
    const { caller } = await keyFor("read", "user");
    const reader = await listen(caller);
    await add({ team: "crew" });
    await add({ agent: "bot" });
    await add({ user: "carol" });
    expect(await reader.next()).toMatchObject({ data: { space: { user: "carol" } } });
    await reader.close();
  });

  it("are refused for a space that the key does not cover", async () => {
    const { caller } = await keyFor("write", { user: "ada" });
    for (const query of [{ user: "victim" }, { team: "crew" }, { agent: "bot" }]) {
      expect((await caller.send("GET /api/v1/events", { query })).status).toBe(403);
    }
    expect((await anyone.send("GET /api/v1/events")).status).toBe(401);
  });
});

describe("an open stream", () => {
  it("shows that it lives, and ends at the next heartbeat when its key is revoked", async () => {
    const { id, caller } = await keyFor("read", { user: "ada" });
    const reader = await listen(caller);
    clock.advance(HEARTBEAT_MS);
    expect(await reader.next()).toBe("alive");
    await admin.data(`DELETE /api/v1/keys/${id}`);
    clock.advance(HEARTBEAT_MS);
    expect(await reader.next()).toBeUndefined();
    expect((await caller.send("GET /api/v1/events")).status).toBe(401);
  });

  it("ends when its key expires", async () => {
    const { secret } = await makeKey(admin, { access: "read", spaces: ["user"], expiresAt: clock.now() + 20_000 });
    const reader = await listen(anyone.as(secret));
    clock.advance(HEARTBEAT_MS);
    expect(await reader.next()).toBe("alive");
    clock.advance(HEARTBEAT_MS);
    expect(await reader.next()).toBeUndefined();
  });

  it.each(["forgotten", "renamed"])("ends when its user was %s: the name may be another's", async (change) => {
    const user = `temp-${change}`;
    await add({ user });
    const { caller } = await keyFor("read", { user });
    const readers = [await listen(caller), await listen(caller, { user })];
    if (change === "forgotten") await admin.data(`DELETE /api/v1/registry/users/${user}`);
    else await admin.data(`PATCH /api/v1/registry/users/${user}`, { body: { name: "another" } });
    for (const reader of readers) expect(await reader.next()).toMatchObject({ type: change });
    clock.advance(HEARTBEAT_MS);
    const { ids } = await add({ user });
    for (const reader of readers) {
      const rest = [];
      for (let event = await reader.next(); event; event = await reader.next()) rest.push(event);
      expect(JSON.stringify(rest)).not.toContain(ids[0]);
    }
    expect((await caller.send("GET /api/v1/events", { query: { user } })).status).toBe(403);
  });

  it("leaves nothing behind when its reader goes, or never wanted it", async () => {
    const before = clock.pending;
    const reader = await listen(admin);
    expect(clock.pending).toBe(before + 1);
    await reader.close();
    await until(() => clock.pending === before);
    const head = await admin.fetch("HEAD /api/v1/events");
    expect(head.status).toBe(200);
    await until(() => clock.pending === before);
  });
});
