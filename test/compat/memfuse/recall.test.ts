/** Stores and chunks, with a model. */
import type { Memory } from "holdfast";
import { FakeClock, HashEmbedder } from "holdfast/testing";
import { beforeAll, describe, expect, it } from "vitest";
import { type Caller, start } from "../../server/started.js";
import { open } from "../../support/opened.js";
import { makePlace, type Place } from "./samples.js";

let caller: Caller;
let place: Place;

interface Result {
  readonly content: string;
  readonly metadata: { readonly retrieval: { readonly source: string; readonly method: string } };
}
interface Chunks {
  readonly chunks: readonly {
    readonly chunk_id: string;
    readonly content: string;
    readonly metadata: { readonly message_id: string; readonly round_id: string; readonly part: number };
  }[];
  readonly total_count: number;
}

const LONG = "The sea is cold in May. The hills are green in June. The figs are ripe in August.";

beforeAll(async () => {
  caller = await start({ clock: new FakeClock(), embedder: new HashEmbedder() });
  place = await makePlace(caller, "ada", "Lisbon");
  for (const content of [LONG, "Nothing happened."]) await add(content);
  await caller.data("POST /api/v1/flush", { query: { user: "ada" } });
  await caller.data("POST /api/v1/flush");
});

const add = (content: string) =>
  caller.data<{ round_id: string }>(`POST /api/v1/sessions/${place.session_id}/messages`, {
    body: { messages: [{ role: "user", content }] },
  });

async function results(body: object): Promise<readonly Result[]> {
  const route = `POST /api/v1/users/${place.user_id}/query`;
  return (await caller.data<{ results: Result[] }>(route, { body })).results;
}

const methodsOf = (found: readonly Result[]) => [...new Set(found.map(({ metadata }) => metadata.retrieval.method))];

describe("store_type", () => {
  it("keyword searches by words alone", async () => {
    const found = await results({ query: "figs in Lisbon", store_type: "keyword", top_k: 10 });
    expect(methodsOf(found)).toEqual(["keyword"]);
    expect(found.length).toBeGreaterThan(1);
    for (const { content } of found) expect(content).toMatch(/figs|Lisbon|Nothing/);
    expect(await results({ query: "zebra", store_type: "keyword" })).toEqual([]);
  });

  it("vector searches by meaning alone", async () => {
    const found = await results({ query: "zebra", store_type: "vector", top_k: 10 });
    expect(methodsOf(found)).toEqual(["vector"]);
    expect(found, "everything has some distance").toHaveLength(4);
    expect(methodsOf(await results({ query: "figs", store_type: "vector" }))).toEqual(["vector"]);
  });

  it("hybrid, or none, searches by both", async () => {
    const both = await results({ query: "figs", store_type: "hybrid" });
    expect(methodsOf(both)).toContain("hybrid");
    expect(await results({ query: "figs" })).toEqual(both);
    expect(both[0]?.content).toBe(LONG);
    expect(both[0]?.metadata.retrieval.source).toMatch(/^(hybrid_buffer|store)$/);
  });

  it("graph is not supported, and says so", async () => {
    const graph = await caller.send(`POST /api/v1/users/${place.user_id}/query`, {
      body: { query: "figs", store_type: "graph" },
    });
    expect([graph.status, graph.json?.error?.code]).toEqual([501, "unsupported"]);
    const chunks = await caller.send(`GET /api/v1/sessions/${place.session_id}/chunks`, {
      query: { store_type: "graph" },
    });
    expect(chunks.status).toBe(501);
  });

  it("vector is refused where there is no model, instead of finding nothing", async () => {
    const memory: Memory = await open({ path: ":memory:" });
    const session = memory.session({ user: "ada", session: "talk" });
    await session.add([{ role: "user", content: "I like figs." }]);
    await expect(session.query("figs", { by: "meaning" })).rejects.toMatchObject({ code: "unsupported" });
    await expect(session.query("figs", { by: "smell" as "words" })).rejects.toMatchObject({ code: "invalid_input" });
    expect(await session.query("figs", { by: "words" })).toHaveLength(1);
  });
});

describe("chunks", () => {
  const chunksAt = (path: string, query: Record<string, string> = {}) =>
    caller.data<Chunks>(`GET /api/v1${path}`, { query });

  it("are slices of messages, newest first", async () => {
    const { chunks, total_count } = await chunksAt(`/sessions/${place.session_id}/chunks`);
    expect(chunks).toHaveLength(total_count);
    expect(chunks[0]?.content).toBe("Nothing happened.");
    expect(chunks.at(-1)?.content).toBe("I moved to Lisbon in May.");
    const parts = chunks.filter(({ content }) => LONG.includes(content) && content !== "");
    expect(parts.length, "a long message has several").toBeGreaterThan(1);
    expect(new Set(parts.map(({ metadata }) => metadata.message_id)).size).toBe(1);
    const oldest = await chunksAt(`/sessions/${place.session_id}/chunks`, { order: "asc" });
    expect(oldest.chunks).toEqual(chunks.toReversed());
  });

  it("are sorted by id, limited as requested, with the total number", async () => {
    const all = await chunksAt(`/sessions/${place.session_id}/chunks`, { sort_by: "chunk_id", order: "asc" });
    const ids = all.chunks.map(({ chunk_id }) => chunk_id);
    expect(ids).toEqual(ids.toSorted());
    const two = await chunksAt(`/sessions/${place.session_id}/chunks`, {
      sort_by: "chunk_id",
      order: "desc",
      limit: "2",
    });
    expect(two.chunks).toEqual(all.chunks.toReversed().slice(0, 2));
    expect(two.total_count).toBe(all.total_count);
  });

  it("of a round are those of its messages", async () => {
    const { chunks } = await chunksAt(`/rounds/${place.round_id}/chunks`);
    expect(chunks.map(({ content }) => content)).toEqual(["I moved to Lisbon in May."]);
    expect(chunks[0]?.metadata).toMatchObject({ message_id: place.message_id, round_id: place.round_id });
    for (const id of [`${place.session_id}:99`, `${place.session_id}:0`, place.session_id, `${place.session_id}:1.5`]) {
      expect([id, (await caller.send(`GET /api/v1/rounds/${id}/chunks`)).status]).toEqual([id, 404]);
    }
  });

  it("are counted, for a user including what belongs to no session", async () => {
    type Stats = { total_chunks: number; by_store: object; filters: object };
    const statsOf = (query: Record<string, string>) => caller.data<Stats>("GET /api/v1/chunks/stats", { query });
    const { user_id, session_id } = place;
    const { total_count } = await chunksAt(`/sessions/${session_id}/chunks`);
    const ofSession = await statsOf({ user_id, session_id });
    expect(ofSession.total_chunks).toBe(total_count);
    expect((await statsOf({ user_id })).total_chunks, "and one piece of knowledge").toBe(total_count + 1);
    expect(await statsOf({ user_id, store_type: "keyword" })).toEqual({
      total_chunks: 0,
      by_store: { keyword: { total_chunks: 0 } },
      filters: { user_id, session_id: null, store_type: "keyword" },
    });
    expect((await chunksAt(`/sessions/${session_id}/chunks`, { store_type: "keyword" })).chunks).toEqual([]);
  });

  it("of edited or deleted text are gone", async () => {
    const { round_id } = await add("Zebras are striped.");
    await caller.data("POST /api/v1/flush");
    const [chunk] = (await chunksAt(`/rounds/${round_id}/chunks`)).chunks;
    expect(chunk?.content).toBe("Zebras are striped.");
    const body = { message_ids: [chunk?.metadata.message_id] };
    await caller.data(`PUT /api/v1/sessions/${place.session_id}/messages`, {
      body: { ...body, new_messages: [{ role: "user", content: "Lions are not." }] },
    });
    await caller.data("POST /api/v1/flush");
    expect((await chunksAt(`/rounds/${round_id}/chunks`)).chunks.map(({ content }) => content)).toEqual([
      "Lions are not.",
    ]);
    await caller.data(`DELETE /api/v1/sessions/${place.session_id}/messages`, { body });
    expect((await caller.send(`GET /api/v1/rounds/${round_id}/chunks`)).status).toBe(404);
    expect(
      (await results({ query: "zebras striped lions", store_type: "keyword" })).map(({ content }) => content),
    ).toEqual([]);
  });
});

describe("buffer_only", () => {
  it("shows pending items, and nothing once they are embedded", async () => {
    const waiting = await start({
      clock: new FakeClock(),
      embedder: new HashEmbedder(),
      buffer: { roundBuffer: { eager: false } },
    });
    const { session_id } = await makePlace(waiting, "ada", "Lisbon");
    const list = (query: Record<string, string>) =>
      waiting.data<{ messages: unknown[] }>(`GET /api/v1/sessions/${session_id}/messages`, { query });
    expect((await list({ buffer_only: "true" })).messages).toHaveLength(1);
    await waiting.data("POST /api/v1/flush");
    expect((await list({ buffer_only: "true" })).messages).toHaveLength(0);
    expect((await list({ buffer_only: "false" })).messages).toHaveLength(1);
  });
});
