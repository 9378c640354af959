/** Whether it lives, whether it can serve, and what it counts. */
import { FakeClock } from "holdfast/testing";
import { describe, expect, it } from "vitest";
import { openRaw } from "../support/raw.js";
import { type Caller, newPath, start } from "./started.js";

/** So long after a write that came through, no other is tried. */
const PROVED_MS = 1_000;

const get = async (caller: Caller, path: string) => {
  const response = await fetch(caller.url + path);
  return { status: response.status, value: (await response.json()) as unknown };
};

describe("health", () => {
  it("tells that the process lives, and no more", async () => {
    const caller = await start({ path: ":memory:" });
    for (const path of ["/health", "/health/live", "/health/"]) {
      expect(await get(caller, path)).toEqual({ status: 200, value: { status: "ok" } });
    }
  });

  it("tells whether the store takes writes, by trying", async () => {
    const clock = new FakeClock();
    const path = newPath();
    const caller = await start({ path, clock, store: { busyTimeoutMs: 200 } });
    const ready = { ready: true, checks: { store: { writable: true, writes: "ok" }, model: "none" } };
    expect(await get(caller, "/health/ready")).toMatchObject({ status: 200, value: ready });
    const other = openRaw(path);
    other.exec("BEGIN IMMEDIATE"); // another program that writes, and writes
    expect((await get(caller, "/health/ready")).status, "it was proved a moment ago").toBe(200);
    clock.advance(PROVED_MS);
    const [live, refused] = await Promise.all([get(caller, "/health/live"), get(caller, "/health/ready")]);
    expect(live.status, "it lives all the same").toBe(200);
    expect(refused).toMatchObject({
      status: 503,
      value: { ready: false, checks: { store: { writable: false, error: "busy" } } },
    });
    other.exec("COMMIT");
    other.close();
    expect((await get(caller, "/health/ready")).status, "a failure is not kept").toBe(200);
  });
});

describe("/metrics", () => {
  it("counts what happens", async () => {
    const caller = await start({ path: ":memory:" });
    const read = async (name: string) => {
      const { text, headers } = await caller.send("GET /metrics");
      expect(headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
      const line = text.split("\n").find((one) => one.startsWith(`${name} `));
      return line === undefined ? 0 : Number(line.slice(name.length + 1));
    };
    const names = [
      'holdfast_http_requests_total{route="POST /messages",status="201"}',
      'holdfast_http_requests_total{route="POST /messages",status="422"}',
      'holdfast_http_request_duration_seconds_count{route="POST /messages"}',
      'holdfast_http_requests_total{route="POST /query",status="200"}',
      "holdfast_store_items",
      "holdfast_store_commits_total",
      'holdfast_searchable_seconds_count{by="words"}',
      'holdfast_query_seconds_count{answered="cold"}',
      'holdfast_query_seconds_count{answered="cached"}',
    ];
    const before = await Promise.all(names.map(read));
    const query = { user: "ada", session: "s" };
    const messages = [{ role: "user", content: "figs are sweet" }];
    for (let time = 0; time < 3; time++) await caller.data("POST /api/v1/messages", { query, body: { messages } });
    await caller.send("POST /api/v1/messages", { query, body: {} });
    for (let time = 0; time < 2; time++) await caller.data("POST /api/v1/query", { query, body: { query: "figs" } });
    const after = await Promise.all(names.map(read));
    expect(after.map((value, at) => value - (before[at] ?? 0))).toEqual([3, 1, 4, 2, 3, 3, 3, 1, 1]);
  });
});
