/**
 * A client that sends or reads slowly holds only its own resources. The senders are real sockets; time is the test's.
 */
import { connect, type Socket } from "node:net";
import { FakeClock } from "holdfast/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { until } from "../support/until.js";
import { type Caller, makeKey, newPath, startWithKeys } from "./started.js";
import { rawRequest, Wire } from "./wire.js";

const MIB = 1024 * 1024;
/** Longer than anybody may be silent in the body of a call, and than that in an import. */
const TOO_LONG_MS = 10_001;
const FAR_TOO_LONG_MS = 60_001;

let clock: FakeClock;
let admin: Caller;
let hostile: Caller;
let victim: Caller;
let wires: Wire[];
let sockets: Socket[];

beforeEach(async () => {
  clock = new FakeClock();
  wires = [];
  sockets = [];
  const path = newPath();
  const eve = await makeKey(path, { access: "write", spaces: [{ user: "eve" }] }, { clock });
  const ada = await makeKey(path, { access: "write", spaces: [{ user: "ada" }] }, { clock });
  const started = await startWithKeys({ path, clock });
  admin = started.admin;
  hostile = started.anyone.as(eve.secret);
  victim = started.anyone.as(ada.secret);
});

afterEach(() => {
  for (const one of [...wires, ...sockets]) one.destroy();
});

/** A request of which the head and a part of the body are sent. */
function send(caller: Caller, route: string, headers: { readonly [name: string]: string }, body: string): Wire {
  const wire = new Wire(caller.url);
  wires.push(wire);
  const { host } = new URL(caller.url);
  wire.send(rawRequest({ route, host, headers: { authorization: `Bearer ${caller.secret}`, ...headers } }, body));
  return wire;
}

const slowly = (route: string, length: number, body = "{"): Wire =>
  send(hostile, route, { "content-length": String(length) }, body);

const measured = async (name: string): Promise<number> => {
  const { text } = await admin.send("GET /metrics");
  return Number(new RegExp(`^holdfast_http_requests_${name} (\\d+)$`, "m").exec(text)?.[1]);
};
const inside = () => measured("in_progress");
const turnedAway = () => measured("turned_away");

const message = (content: string) => ({ messages: [{ role: "user", content }] });
const add = (content = "hello") =>
  victim.send("POST /api/v1/messages", { query: { user: "ada" }, body: message(content) });

async function expectAddsToBeAnswered(): Promise<void> {
  for (let count = 0; count < 20; count++) expect((await add()).status).toBe(201);
  expect((await add("x".repeat(4 * MIB))).status).toBe(201);
}

async function expectTimeout(wire: Wire): Promise<void> {
  const { status, head, body } = await wire.answer();
  expect([status, JSON.parse(body).error.code]).toEqual([408, "request_timeout"]);
  expect(JSON.parse(body).error).toMatchObject({ retryable: true, hint: expect.stringContaining("retry") });
  expect(head).toMatch(/^connection: close$/im);
  await wire.closed();
}

describe("slow senders", () => {
  it("sixteen that declare 16 MiB and send one byte block no other client, and are refused as too slow", async () => {
    const slow = Array.from({ length: 16 }, () => slowly("POST /api/v1/query?user=eve", 16 * MIB));
    await until(async () => (await inside()) >= 16);
    await expectAddsToBeAnswered();
    clock.advance(TOO_LONG_MS);
    for (const wire of slow) await expectTimeout(wire);
    await until(async () => (await inside()) === 0);
  });

  it("six hundred with small bodies block no other client, and are refused as too slow", async () => {
    const slow = Array.from({ length: 600 }, () => slowly("POST /api/v1/query?user=eve", 20));
    await until(async () => (await inside()) + (await turnedAway()) >= slow.length);
    await expectAddsToBeAnswered();
    expect(await inside(), "about half of all places").toBeGreaterThan(200);
    clock.advance(TOO_LONG_MS);
    const statuses = await Promise.all(slow.map(async (wire) => (await wire.answer()).status));
    expect(new Set(statuses), "too slow, or over the caller's share").toEqual(new Set([408, 429]));
    await until(async () => (await inside()) === 0);
  });

  it.each(["POST /api/v1/messages", "POST /mcp", "POST /api/v1/import"])(
    "of %s have to go on sending, whether they say how much is to come or not",
    async (route) => {
      const at = `${route}?user=eve`;
      const chunked = send(hostile, at, { "transfer-encoding": "chunked" }, "1\r\n{\r\n");
      const told = slowly(at, 1000);
      await until(async () => (await inside()) >= 2);
      clock.advance(FAR_TOO_LONG_MS);
      await expectTimeout(chunked);
      await expectTimeout(told);
    },
  );

  it("that drip a byte now and then do not keep their place by it", async () => {
    const wire = slowly("POST /api/v1/query?user=eve", 16 * MIB);
    await until(async () => (await inside()) >= 1);
    const dripping = expectTimeout(wire);
    let isOver = false;
    void dripping.finally(() => {
      isOver = true;
    });
    let seconds = 0;
    await until(() => {
      wire.send(" ");
      clock.advance(1_000);
      seconds++;
      return isOver;
    });
    await dripping;
    expect(seconds).toBeGreaterThanOrEqual(10);
  });
});

describe("slow readers", () => {
  /** Asks, and reads nothing. */
  function askOnly(caller: Caller, route: string, body = ""): Socket {
    const { hostname, port, host } = new URL(caller.url);
    const socket = connect(Number(port), hostname);
    sockets.push(socket);
    const headers = { authorization: `Bearer ${caller.secret}`, "content-length": String(body.length) };
    socket.write(rawRequest({ route, host, headers }, body));
    return socket;
  }

  it("of answers and exports have a place of their own until they have read, or gone", async () => {
    for (let count = 0; count < 6; count++) {
      const body = message("x".repeat(8 * MIB));
      expect((await hostile.send("POST /api/v1/messages", { query: { user: "eve" }, body })).status).toBe(201);
    }
    const readers = [
      askOnly(hostile, "POST /api/v1/items/list?user=eve", "{}"),
      askOnly(hostile, "GET /api/v1/export?user=eve"),
    ];
    await until(async () => (await inside()) >= readers.length);
    await expectAddsToBeAnswered();
    expect(await inside(), "they still read").toBe(readers.length);
    for (const reader of readers) reader.destroy();
    await until(async () => (await inside()) === 0);
  });

  it("that go with requests still queued on their connection leave no place behind", async () => {
    const body = message("x".repeat(4 * MIB));
    expect((await hostile.send("POST /api/v1/messages", { query: { user: "eve" }, body })).status).toBe(201);
    const reader = askOnly(hostile, "POST /api/v1/items/list?user=eve", "{}");
    const { host } = new URL(hostile.url);
    const headers = { authorization: `Bearer ${hostile.secret}`, "content-length": "2" };
    for (let queued = 0; queued < 5; queued++)
      reader.write(rawRequest({ route: "POST /api/v1/items/list?user=eve", host, headers }, "{}"));
    await until(async () => (await inside()) >= 6);
    reader.destroy();
    await until(async () => (await inside()) === 0);
  });
});
