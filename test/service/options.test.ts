/** Every option, through the public API: each value changes something. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type HoldfastError, type OpenOptions, openMemory } from "holdfast";
import { FakeClock } from "holdfast/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import { newFolder, newPath, open } from "../support/opened.js";
import { openRaw } from "../support/raw.js";

afterEach(() => {
  vi.unstubAllEnvs();
});

const boats = Array.from({ length: 20 }, (_, at) => ({
  role: "user" as const,
  content: `boat${" again".repeat(at)}`,
  occurredAt: at * 1000,
}));

describe("the option", () => {
  it("path chooses the file, and :memory: none", async () => {
    const path = newPath();
    const first = await open({ path });
    await first.session({ user: "ada" }).add([{ role: "user", content: "kept" }]);
    await first.close();
    expect(await (await open({ path })).session({ user: "ada" }).query("kept")).toHaveLength(1);
    const ram = await open({ path: ":memory:" });
    await ram.session({ user: "ada" }).add([{ role: "user", content: "gone" }]);
    expect(await ram.session({ user: "ada" }).query("gone")).toHaveLength(1);
    await ram.close();
    expect(await (await open({ path: ":memory:" })).session({ user: "ada" }).query("gone")).toHaveLength(0);
  });

  it("store.busyTimeoutMs bounds the wait for another process", async () => {
    const path = newPath();
    const memory = await open({ path, store: { busyTimeoutMs: 50 } });
    const other = openRaw(path);
    other.exec("BEGIN IMMEDIATE");
    const refused = await memory
      .session({ user: "ada" })
      .add([{ role: "user", content: "x" }])
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "busy", retryable: true });
    other.exec("ROLLBACK");
    other.close();
    await memory.session({ user: "ada" }).add([{ role: "user", content: "x" }]);
    expect((await memory.stats()).store).toMatchObject({ items: 1 });
  });

  it("buffer.writeBuffer.maxWaitingBytes and maxWaitMs set when callers are refused", async () => {
    const path = newPath();
    const memory = await open({ path, buffer: { writeBuffer: { maxWaitingBytes: 1000, maxWaitMs: 0 } } });
    const session = memory.session({ user: "ada", session: "s" });
    const calls = Array.from({ length: 20 }, () => session.add([{ role: "user", content: "x".repeat(500) }]));
    const results = await Promise.allSettled(calls);
    const refused = results.filter((result) => result.status === "rejected");
    expect(refused.length).toBeGreaterThan(10);
    expect(refused.every((result) => (result.reason as HoldfastError).code === "overloaded")).toBe(true);
    expect((await memory.stats()).store.items).toBe(20 - refused.length);
    const patient = await open({
      path: newPath(),
      buffer: { writeBuffer: { maxWaitingBytes: 1000, maxWaitMs: 30_000 } },
    });
    const waiting = Array.from({ length: 20 }, () =>
      patient.session({ user: "ada" }).add([{ role: "user", content: "x".repeat(500) }]),
    );
    expect(await Promise.all(waiting)).toHaveLength(20);
  });

  it("buffer.query.maxSize is the most that a query returns, also if topK asks for more", async () => {
    const counts = async (options: Parameters<typeof open>[0]) => {
      const session = (await open({ path: ":memory:", ...options })).session({ user: "ada", session: "s" });
      await session.add(boats);
      for (const { content } of boats) await session.facts.upsert({ category: "seen", content });
      const { facts } = session;
      const page = await session.query("boat", { topK: 20, offset: 2 });
      return {
        asked: (await session.query("boat", { topK: 15, kind: "message" })).length,
        usual: (await session.query("boat", { kind: "message" })).length,
        page: page.length,
        facts: (await facts.query("boat", { topK: 15 })).length,
        past: (await facts.query("boat", { topK: 15, asOf: Date.now() + 1_000 })).length,
      };
    };
    const three = { asked: 3, usual: 3, page: 3, facts: 3, past: 3 };
    expect(await counts({ buffer: { query: { maxSize: 3 } } })).toEqual(three);
    expect(await counts({})).toEqual({ asked: 15, usual: 10, page: 20, facts: 15, past: 15 });
  });

  it("buffer.query.defaultSortBy and defaultOrder sort when the caller does not say", async () => {
    const memory = await open({
      path: ":memory:",
      buffer: { query: { defaultSortBy: "timestamp", defaultOrder: "asc" } },
    });
    await memory.session({ user: "ada" }).add(boats);
    const times = (await memory.session({ user: "ada" }).query("boat", { topK: 20 })).map(
      ({ occurredAt }) => occurredAt,
    );
    expect(times).toEqual(boats.map(({ occurredAt }) => occurredAt));
    const byScore = await memory.session({ user: "ada" }).query("boat", { topK: 20, sortBy: "score", order: "desc" });
    expect(byScore[0]?.occurredAt).toBe(0);
  });

  it("clock gives the times", async () => {
    const clock = new FakeClock(Date.UTC(2001, 0, 1));
    const memory = await open({ path: ":memory:", clock });
    const { ids } = await memory.session({ user: "ada" }).add([{ role: "user", content: "old" }]);
    expect((await memory.session({ user: "ada" }).get(ids))[0]).toMatchObject({
      occurredAt: clock.now(),
      recordedAt: clock.now(),
    });
  });

  it("is read from a YAML file, the environment over it, code over both", async () => {
    const file = join(newFolder(), "holdfast.yaml");
    writeFileSync(file, 'store:\n  path: ":memory:"\nbuffer:\n  query:\n    max_size: 2\n');
    const count = async (options: OpenOptions) => {
      const memory = await open({ ...options });
      await memory.session({ user: "ada" }).add(boats);
      return (await memory.session({ user: "ada" }).query("boat")).length;
    };
    expect(await count({ config: file })).toBe(2);
    vi.stubEnv("HOLDFAST_BUFFER_QUERY_MAX_SIZE", "4");
    expect(await count({ config: file })).toBe(4);
    expect(await count({ config: file, buffer: { query: { maxSize: 6 } } })).toBe(6);
    vi.stubEnv("HOLDFAST_CONFIG", file);
    expect(await count({})).toBe(4);
  });

  it.each([
    [{ path: ":memory:", buffer: { querry: {} } }, "query"],
    [{ path: ":memory:", buffer: { query: { maxSise: 1 } } }, "buffer.query.maxSize"],
    [{ path: ":memory:", buffer: { speculative: { predictors: "next_line,fortune" } } }, "some of next_line, stride"],
    [{ path: ":memory:", buffer: { hybridBuffer: { embeddingModel: "gte-small" } } }, "embedding.baseUrl"],
    [{ path: ":memory:", buffer: { roundBuffer: { tokenModel: "mystery" } } }, "tokens can be counted"],
    [{}, "path"],
  ])("that is unknown, wrong or missing is refused: %j", async (options, mention) => {
    const error = (await openMemory(options as object).catch((reason: unknown) => reason)) as HoldfastError;
    expect(error.code).toBe("config");
    expect(`${error.message} ${error.hint}`).toContain(mention);
  });
});
