/** What the buffers hold, session by session, and the thresholds in force. */
import { connect } from "holdfast/client";
import { FakeClock } from "holdfast/testing";
import { describe, expect, it } from "vitest";
import { HashEmbedder } from "../support/product.js";
import { until } from "../support/until.js";
import { makeKey, newPath, start, startWithKeys } from "./started.js";

const THRESHOLDS = { maxTokens: 700, maxSize: 3, idleMs: 45_000, eager: false };
const QUEUE = { maxSize: 50, maxBytes: 1_000_000, idleMs: 40_000, forceMs: 900_000 };
const buffer = { roundBuffer: THRESHOLDS, hybridBuffer: QUEUE, query: { cacheSize: 7 } };
const ADA = { user: "ada", session: "evening" };

async function opened() {
  const clock = new FakeClock();
  const { url } = await start({ clock, embedder: new HashEmbedder(), buffer });
  return { url, clock, memory: connect(url) };
}

const say = (content: string) => [{ role: "user", content }] as const;

describe("the buffers", () => {
  it("report the thresholds in force, and how long the oldest item has waited", async () => {
    const { clock, memory } = await opened();
    const before = await memory.stats();
    expect(before.meaning?.round).toMatchObject({ thresholds: THRESHOLDS });
    expect(before.meaning?.hybrid).toMatchObject({ thresholds: QUEUE });
    expect(before.query.maxEntries).toBe(7);
    expect(before.query.maxBytes).toBeGreaterThan(0);
    expect(before.write.maxWaitingBytes).toBe(64 * 1024 * 1024);
    expect(before.speculative?.maxBytes).toBe(2 * 1024 * 1024);
    for (const part of [before.write, before.meaning?.round, before.meaning?.hybrid]) {
      expect(part).not.toHaveProperty("oldestMs");
    }
    const session = memory.session(ADA);
    await session.add(say("a lamp"));
    clock.advance(5_000);
    await session.add(say("a rope"));
    clock.advance(2_000);
    expect((await memory.stats()).meaning?.round.oldestMs).toBe(7_000);
    await session.add(say("a key")); // the third round: it is transferred
    await until(async () => (await memory.stats()).meaning?.hybrid.itemCount === 3);
    clock.advance(3_000);
    const { meaning } = await memory.stats();
    expect(meaning?.round).not.toHaveProperty("oldestMs");
    expect(meaning?.hybrid.oldestMs).toBe(3_000);
  });

  it("list the sessions that they hold, longest waiting first", async () => {
    const { clock, memory } = await opened();
    expect(await memory.bufferedSessions()).toEqual({ items: [], total: 0 });
    const began = clock.now();
    for (const word of ["lamp", "rope", "key"]) await memory.session(ADA).add(say(word));
    await until(async () => (await memory.stats()).meaning?.hybrid.itemCount === 3);
    clock.advance(1_000);
    await memory.session({ user: "bob", session: "morning" }).add(say("a boat"));
    const tokens = async () => (await memory.bufferedSessions()).items[1]?.round?.tokens;
    await until(async () => ((await tokens()) ?? 0) > 0);
    clock.advance(4_000);
    expect(await memory.bufferedSessions()).toEqual({
      items: [
        {
          space: { user: "ada" },
          session: "evening",
          hybrid: { items: 3, rounds: 3, chunks: 3, bytes: expect.any(Number), oldestAt: began },
        },
        {
          space: { user: "bob" },
          session: "morning",
          round: { state: "gathering", rounds: 1, tokens: await tokens(), oldestMs: 4_000 },
        },
      ],
      total: 2,
    });
    await memory.session(ADA).add(say("a bell"));
    expect((await memory.bufferedSessions(ADA)).items).toMatchObject([{ round: { rounds: 1 }, hybrid: { items: 3 } }]);
    await memory.flush();
    expect(await memory.bufferedSessions()).toEqual({ items: [], total: 0 });
  });

  it("list at most 100 sessions, and say how many there are", async () => {
    const { memory } = await opened();
    for (let at = 0; at < 101; at++) await memory.session({ user: "ada", session: `s${at}` }).add(say("a lamp"));
    const { items, total } = await memory.bufferedSessions();
    expect([items.length, total]).toEqual([100, 101]);
  });

  it("show a caller only the spaces of its key", async () => {
    const path = newPath();
    const ada = await makeKey(path, { access: "read", spaces: [{ user: "ada" }] });
    const { server, admin } = await startWithKeys({ path, embedder: new HashEmbedder(), buffer });
    for (const user of ["ada", "bob"]) {
      await admin.data("POST /api/v1/messages", { query: { user, session: "s" }, body: { messages: say("a lamp") } });
    }
    const memory = connect(server.url, { key: ada.secret });
    await expect(memory.bufferedSessions()).rejects.toMatchObject({ code: "forbidden" });
    await expect(memory.bufferedSessions({ user: "bob" })).rejects.toMatchObject({ code: "forbidden" });
    expect((await memory.bufferedSessions({ user: "ada" })).items).toMatchObject([{ space: { user: "ada" } }]);
    const all = connect(server.url, { key: admin.secret as string });
    expect((await all.bufferedSessions()).total).toBe(2);
  });
});

describe("the history of measurements", () => {
  it("is read as a whole, or from a time on, by admins only", async () => {
    const { clock, memory } = await opened();
    const newest = async () => (await memory.statsHistory()).at.at(-1);
    const sample = async () => {
      const before = await newest();
      clock.advance(10_000);
      await until(async () => (await newest()) !== before);
    };
    expect(await memory.statsHistory()).toMatchObject({ everyMs: 10_000, at: [], series: { addsPerSecond: [] } });
    await sample();
    await memory.session(ADA).add(say("a lamp"));
    await sample();
    const whole = await memory.statsHistory();
    expect(whole.at).toEqual([clock.now() - 10_000, clock.now()]);
    expect(whole.series.addsPerSecond).toEqual([null, 0.1]);
    expect(whole.series.pendingItems).toEqual([0, 1]);
    const later = await memory.statsHistory({ since: clock.now() - 10_000 });
    expect([later.at, later.series.pendingItems]).toEqual([[clock.now()], [1]]);
    const one = await memory.statsHistory({ series: "storedItems" });
    expect(one.series).toEqual({ storedItems: [0, 1] });
    const path = newPath();
    const writer = await makeKey(path, { access: "write", spaces: ["user"] });
    const { server } = await startWithKeys({ path });
    const refused = connect(server.url, { key: writer.secret }).statsHistory();
    await expect(refused).rejects.toMatchObject({ code: "forbidden" });
  });

  it("refuses a time that is none, and an unknown series", async () => {
    const { url } = await opened();
    const response = await fetch(`${url}/api/v1/stats/history?since=yesterday`);
    expect(response.status).toBe(422);
    expect(((await response.json()) as { message: string }).message).toContain("since");
    const unknown = await fetch(`${url}/api/v1/stats/history?series=wishes`);
    expect([unknown.status, await unknown.text()]).toEqual([422, expect.stringContaining("series")]);
  });

  it("ends with the server", async () => {
    const clock = new FakeClock();
    const { server } = await start({ clock, embedder: new HashEmbedder() });
    await server.stop();
    clock.advance(1); // what was put off until the next turn
    expect(clock.pending, "timers that are left").toBe(0);
  });
});
