/** Streams that notify MCP clients of changed blocks: what they send, to whom, and that they leave nothing behind. */
import { execFile } from "node:child_process";
import { Server } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { FakeClock } from "holdfast/testing";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { type Caller, newPath, start, startWithKeys } from "../server/started.js";
import { rawRequest, Wire } from "../server/wire.js";
import { makeKey } from "../server/world.js";
import { root } from "../support/root.js";
import { until } from "../support/until.js";
import { HttpAgent, legacy, messageOf, modern, type Place, post, TYPES } from "./http-agent.js";

const LOOK_MS = 1_000;
const CONFIRM_MS = 15_000;
/** What the server waits for without any stream: its next sample and its next housekeeping. */
const IDLE_TIMERS = 2;
const clock = new FakeClock();
const uriOf = (name: string): string => `memory://blocks/${name}`;

let path: string;
let anyone: Caller;
let admin: Caller;

beforeAll(async () => {
  // Its timers are counted, so nothing else may have any.
  ({ path, anyone, admin } = await startWithKeys({ clock, buffer: { speculative: { maxSize: 0 } } }));
  clock.advance(LOOK_MS); // it reads ahead, once
});

// A client can hear of the end of its stream before the server has ended its timers.
afterEach(() => until(() => clock.pending === IDLE_TIMERS));

const connect = (user: string) => HttpAgent.connect(anyone.url, { key: admin.secret ?? "", query: { user } });

/** A client that listens to the list, and to one block. */
async function listener(url: string, place: Place, name = "a") {
  const agent = await HttpAgent.connect(url, place);
  const stream = await agent.client.listen({ resourcesListChanged: true, resourceSubscriptions: [uriOf(name)] });
  return { agent, told: agent.told, stream };
}

/** Lets time pass until the client was told. */
async function hears({ told }: { readonly told: readonly string[] }, text: string): Promise<void> {
  await until(() => {
    clock.advance(LOOK_MS);
    return told.includes(text);
  });
}

const listenOf = (filter: object) => modern("subscriptions/listen", { notifications: filter });
const everything = listenOf({ resourcesListChanged: true });

describe("a client that listens", () => {
  it("is notified of its own edits, of edits over HTTP, and of edits by another process", async () => {
    const query = { user: "ada" };
    const here = await listener(anyone.url, { key: admin.secret ?? "", query });
    expect(here.stream.honoredFilter).toEqual({ resourcesListChanged: true, resourceSubscriptions: [uriOf("a")] });
    await here.agent.block("create", { name: "a", content: "one" });
    await hears(here, uriOf("a"));
    expect(here.told.splice(0)).toEqual(["list", uriOf("a")]);

    await admin.data("POST /api/v1/blocks/a/edits", { query, body: { append: "two" } });
    await hears(here, uriOf("a"));
    expect(here.told.splice(0), "an edit changes no list").toEqual([uriOf("a")]);

    const args = ["blocks", "edit", "a", "--append", "three", "--path", path, "--user", "ada"];
    await promisify(execFile)(process.execPath, [join(root, "dist/cli/main.js"), ...args]);
    await hears(here, uriOf("a"));
    expect(here.told.splice(0)).toEqual([uriOf("a")]);
    const { contents } = await here.agent.client.readResource({ uri: uriOf("a") });
    expect(contents).toMatchObject([{ text: "one\ntwo\nthree" }]);

    await here.agent.block("create", { name: "b", content: "not asked for by name" });
    await hears(here, "list");
    await admin.data("DELETE /api/v1/blocks/a", { query });
    await hears(here, uriOf("a"));
    expect(here.told.splice(0)).toEqual(["list", "list", uriOf("a")]);
    await here.stream.close();
  });

  it("hears nothing of another user's blocks, of whatever name", async () => {
    const [ada, bob] = await Promise.all(
      ["ada2", "bob2"].map((user) => listener(anyone.url, { key: admin.secret ?? "", query: { user } })),
    );
    if (!ada || !bob) throw new Error("two listen");
    await bob.agent.block("create", { name: "a", content: "bob's" });
    await hears(bob, uriOf("a"));
    await bob.agent.block("insert", { name: "a", new: "more", line: 1 });
    await bob.agent.block("create", { name: "b", content: "bob's" });
    bob.told.splice(0);
    await hears(bob, "list");
    expect(ada.told).toEqual([]);
    await ada.agent.block("create", { name: "a", content: "ada's" });
    await hears(ada, uriOf("a"));
    expect(ada.told, "what came before would stand before it").toEqual(["list", uriOf("a")]);
    await Promise.all([ada.stream.close(), bob.stream.close()]);
  });

  it("gets what it can subscribe to, and nothing else", async () => {
    const agent = await connect("ada");
    expect(agent.client.getServerCapabilities()).toMatchObject({
      tools: { listChanged: false },
      prompts: { listChanged: false },
      resources: { subscribe: true, listChanged: true },
    });
    const stream = await agent.client.listen({ toolsListChanged: true, promptsListChanged: true });
    expect(stream.honoredFilter).toEqual({});
    expect(await stream.closed).toBe("graceful");
    const old = await HttpAgent.connect(anyone.url, { key: admin.secret ?? "", query: { user: "ada" } }, "legacy");
    expect(old.client.getServerCapabilities()?.resources).toEqual({ subscribe: false, listChanged: false });
    await expect(old.client.subscribeResource({ uri: uriOf("a") })).rejects.toThrow();
    const place = { key: admin.secret ?? "", query: { user: "ada" } };
    for (const { headers, body } of [
      legacy("subscriptions/listen", { notifications: { resourcesListChanged: true } }),
      listenOf({ resourcesListChanged: "yes" }),
      modern("subscriptions/listen"),
    ]) {
      const answer = await messageOf(await post(anyone.url, { ...place, headers, body }));
      expect(answer).toMatchObject({ id: 1, error: { code: expect.any(Number) } });
    }
    expect((await post(anyone.url, { query: { user: "ada" }, ...everything })).status).toBe(401);
  });
});

describe("a stream", () => {
  it("ends when its key is revoked, and not before", async () => {
    const { id, secret: key } = await makeKey(admin, { access: "read", spaces: [{ user: "brief" }] });
    const here = await listener(anyone.url, { key });
    let isClosed = false;
    const closed = here.stream.closed.then((why) => {
      isClosed = true;
      return why;
    });
    clock.advance(CONFIRM_MS);
    await until(() => clock.pending === IDLE_TIMERS + 2); // it was asked for its key, and waits again
    await admin.data("POST /api/v1/blocks", { query: { user: "brief" }, body: { name: "a", content: "x" } });
    await hears(here, uriOf("a"));
    expect(isClosed).toBe(false);
    await admin.data(`DELETE /api/v1/keys/${id}`);
    clock.advance(CONFIRM_MS);
    expect(await closed).toBe("remote");
    await expect(here.agent.client.listen({ resourcesListChanged: true })).rejects.toThrow(/401|nauthorized/);
  });

  it.each(["renamed", "forgotten"])("ends when its user was %s: the name may be another's", async (change) => {
    const user = `temp-${change}`;
    await admin.data("POST /api/v1/blocks", { query: { user }, body: { name: "a", content: "x" } });
    const { secret: key } = await makeKey(admin, { access: "read", spaces: [{ user }] });
    const { stream } = await listener(anyone.url, { key });
    if (change === "forgotten") await admin.data(`DELETE /api/v1/registry/users/${user}`);
    else await admin.data(`PATCH /api/v1/registry/users/${user}`, { body: { name: `${user}-2` } });
    clock.advance(CONFIRM_MS);
    expect(await stream.closed).toBe("remote");
  });

  it("leaves nothing behind when its reader goes, soon or late", async () => {
    const here = await listener(anyone.url, { key: admin.secret ?? "", query: { user: "ada" } });
    await until(() => clock.pending === IDLE_TIMERS + 2); // it looks for changes, and at its key
    await here.stream.close();
    await until(() => clock.pending === IDLE_TIMERS);

    const place = { key: admin.secret ?? "", query: { user: "ada" } };
    for (let turns = 0; turns < 20; turns++) {
      const leaving = new AbortController();
      const opened = post(anyone.url, { ...place, ...everything, signal: leaving.signal });
      for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
      leaving.abort();
      await opened.then((response) => response.text()).catch((error: unknown) => expect(error).toBeDefined());
    }
    await until(() => clock.pending === IDLE_TIMERS);
  });

  it("has a place of its own; when there is none left its client is told so, and gets the next that is free", async () => {
    const small = await start({ path: ":memory:", clock: new FakeClock(), server: { maxRequests: 2 } });
    const [one, two] = [await listener(small.url, {}), await listener(small.url, {})];
    const agent = await HttpAgent.connect(small.url);
    await expect(agent.client.listen({ resourcesListChanged: true })).rejects.toThrow(/503|overloaded/);
    const refused = await post(small.url, everything);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await refused.json()).toMatchObject({ error: { code: "overloaded", retryable: true } });
    expect((await agent.call("memory_status")).isError, "requests have places of their own").toBe(false);
    await one.stream.close();
    await until(async () => {
      const response = await post(small.url, everything);
      await response.body?.cancel();
      return response.status === 200;
    });
    await two.stream.close();
  });

  it("ends when the server stops, however many there are, and does not hold it up", async () => {
    const warnings: Error[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on("warning", note);
    const { url, server } = await start({ path: newPath() });
    const streams = await Promise.all(Array.from({ length: 15 }, () => listener(url, {})));
    const late = new Wire(url);
    const text = JSON.stringify(everything.body);
    const headers = { ...TYPES, ...everything.headers, "content-length": String(text.length) };
    late.send(rawRequest({ route: "POST /mcp", host: new URL(url).host, headers }, text.slice(0, 20)));
    await until(async () => /_in_progress 1$/m.test(await (await fetch(`${url}/metrics`)).text()));
    const cutOff = vi.spyOn(Server.prototype, "closeAllConnections");
    const stopping = server.stop();
    late.send(text.slice(20));
    expect((await late.answer()).status, "one that comes too late ends at once").toBe(200);
    await stopping;
    expect(cutOff, "all ended before the server lost its patience").not.toHaveBeenCalled();
    cutOff.mockRestore();
    for (const { stream } of streams) expect(await stream.closed).toBe("remote");
    process.off("warning", note);
    expect(warnings).toEqual([]);
  });
});
