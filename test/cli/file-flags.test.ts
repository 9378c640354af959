/** Flags that need a file: models, interrupted exports, copies, and the doctor. */
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openMemory } from "holdfast";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { noting, startChatServer } from "../support/chat-server.js";
import { EmbeddingsServer, rightly } from "../support/embeddings-server.js";
import { newFolder, newPath } from "../support/opened.js";
import { holdfast, jsonOf, Process } from "./cli.js";

/** An embedding server that the configuration names, and its model. */
async function withModel(model: string): Promise<EmbeddingsServer> {
  const server = await EmbeddingsServer.start();
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await server.close();
  });
  vi.stubEnv("HOLDFAST_EMBEDDING_BASE_URL", server.baseUrl);
  vi.stubEnv("HOLDFAST_BUFFER_HYBRID_BUFFER_EMBEDDING_MODEL", model);
  return server;
}

describe("the model", () => {
  it("is used by query, facts query, context and flush, but not with --words, nor by commands that only write", async () => {
    const server = await withModel("model-one");
    const path = newPath();
    const run = async (...argv: string[]): Promise<string> => {
      const ran = await holdfast([...argv, "--path", path]);
      expect(`${argv.join(" ")}: ${ran.code}`).toBe(`${argv.join(" ")}: 0`);
      return ran.out;
    };
    await run("add", "a cup of tea");
    await run("facts", "add", "drink", "tea with milk");
    await run("blocks", "create", "b", "x");
    expect(await run("query", "tea", "--words", "--explain")).toContain("meaning: not asked");
    await run("facts", "query", "tea", "--words");
    await run("sessions", "list");
    await run("context");
    await run("export");
    expect(server.requests).toHaveLength(0);
    expect(await run("stats")).toContain("waiting to be embedded\t2\n");
    expect(await run("query", "tea", "--explain")).not.toContain("meaning: not asked");
    expect(server.requests.length).toBeGreaterThan(0);
    expect(await run("flush")).toBe("nothing is waiting\n");
    expect(await run("stats")).toContain("waiting to be embedded\t0\n");
    const before = server.requests.length;
    await run("facts", "query", "something hot");
    await run("context", "another question");
    expect(server.requests.length).toBeGreaterThan(before);
  });

  it("embeds a long message after a query has answered; it waited forever, and every query was partial", async () => {
    const server = await withModel("model-one");
    const path = newPath();
    const long = "a cup of tea ".repeat(315); // 4 kB: a query does not wait for it
    await holdfast(["add", long, "--path", path]);
    let answer = (): void => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    server.usually = async (request, response) => {
      if (request.body.input.some((text) => text.length > 100)) await answered;
      await rightly(request, response);
    };
    const query = async (): Promise<string> =>
      (await holdfast(["query", "tea", "--path", path], { onOut: answer })).err;
    expect(await query()).toContain("partial");
    expect((await holdfast(["stats", "--path", path])).out).toContain("waiting to be embedded\t0\n");
    expect(await query()).not.toContain("partial");
  });

  it("that is off does not make flush fail; one that does not answer does, and can be retried", async () => {
    const path = newPath();
    await holdfast(["add", "tea", "--path", path]);
    expect(await holdfast(["flush", "--path", path])).toMatchObject({
      code: 0,
      out: "still to be embedded: 1 item\n",
      err: expect.stringContaining("the embedding model is off"),
    });
    const server = await withModel("model-one");
    await server.close();
    expect(await holdfast(["flush", "--path", path, "--user", "default"])).toMatchObject({
      code: 5,
      out: "still to be embedded: 1 item\n",
    });
  });

  it("is changed by reindex --model, and an unfinished change is discarded with --abandon", async () => {
    const server = await withModel("model-one");
    const path = newPath();
    await holdfast(["add", "tea", "--path", path]);
    await holdfast(["flush", "--path", path]);
    expect(await holdfast(["reindex", "--path", path])).toMatchObject({
      code: 0,
      out: "everything is already embedded by model-one\n",
    });
    expect(await holdfast(["reindex", "--model", "model-two", "--path", path])).toMatchObject({
      code: 0,
      out: "1 item embedded by model-two\n",
      err: expect.stringContaining("buffer.hybrid_buffer.embedding_model: model-two"),
    });
    expect(await holdfast(["reindex", "--abandon", "--path", path])).toMatchObject({
      out: "there was no unfinished reindex\n",
    });
    const ending = new AbortController();
    server.usually = async (request, response) => {
      const isTea = request.body.input.some((text) => text.includes("tea"));
      response.writeHead(200, { "content-type": "application/json" });
      if (isTea) return ending.abort("SIGINT");
      response.end(JSON.stringify({ data: request.body.input.map((_, index) => ({ index, embedding: [1, 0, 0] })) }));
    };
    const third = await holdfast(["reindex", "--model", "model-three", "--path", path], { signal: ending.signal });
    expect(third.code).toBe(130);
    const abandoned = await holdfast(["reindex", "--abandon", "--path", path, "--json"]);
    expect(jsonOf(abandoned)).toEqual({ abandoned: true });
  });
});

it("facts extract reads a session with a language model, up to --limit messages", async () => {
  const server = await startChatServer();
  onTestFinished(() => server.close());
  const folder = newFolder();
  const config = join(folder, "holdfast.yaml");
  writeFileSync(
    config,
    `extraction:\n  base_url: ${server.baseUrl}\n  model: some-model\nstore:\n  path: ${folder}/m.db\n`,
  );
  const run = (...argv: string[]) => holdfast([...argv, "--session", "monday", "--config", config]);
  for (const text of ["I like tea", "I like bread"]) expect((await run("add", text)).code).toBe(0);
  server.next(noting({ category: "drink", content: "likes tea", confidence: 0.9, source: "m1", supersedes: [] }));
  const first = await run("facts", "extract", "--limit", "1", "--json");
  expect(jsonOf(first)).toMatchObject({ messages: 1, facts: [{ content: "likes tea" }] });
  const second = await run("facts", "extract");
  expect(second).toMatchObject({ code: 0, out: "", err: expect.stringContaining("1 message read, 0 facts") });
});

describe("an export", () => {
  it("that was interrupted is continued in its file with --resume, or on stdout with --cursor", async () => {
    const path = newPath();
    const memory = await openMemory({ path });
    const messages = Array.from({ length: 350 }, (_, at) => ({ role: "user", content: `message ${at}` }) as const);
    await memory.session({ user: "ada" }).add(messages);
    await memory.close();
    const file = join(newFolder(), "export.jsonl");
    expect(await holdfast(["export", file, "--path", path])).toMatchObject({
      code: 0,
      out: expect.stringContaining("lines"),
    });
    const whole = readFileSync(file, "utf8");
    expect(await holdfast(["export", file, "--path", path])).toMatchObject({ code: 1 });
    const cut = whole.slice(0, Math.floor(whole.length * 0.7));
    writeFileSync(file, cut);
    const resumed = jsonOf<{ lines: number }>(await holdfast(["export", file, "--resume", "--json", "--path", path]));
    expect(resumed.lines).toBeGreaterThan(50);
    expect(resumed.lines).toBeLessThan(300);
    expect(readFileSync(file, "utf8")).toBe(whole);
    const [, cursor = ""] = /"cursor":"([\w-]+)"/.exec(whole) ?? [];
    const rest = await holdfast(["export", "--cursor", cursor, "--path", path]);
    expect(whole.endsWith(rest.out)).toBe(true);
    expect(rest.out.length).toBeLessThan(whole.length - 1000);
    const into = newPath();
    expect(jsonOf(await holdfast(["import", file, "--json", "--path", into]))).toMatchObject({ items: 350 });
    writeFileSync(file, cut);
    const partial = await holdfast(["import", file, "--path", newPath()]);
    expect(partial).toMatchObject({ code: 2, err: expect.stringContaining("not a JSON object") });
  });
});

/** In a separate process: the file must be closed before it is replaced. */
async function addElsewhere(text: string, path: string): Promise<void> {
  expect(await Process.holdfast(["add", text, "--path", path]).ended).toBe(0);
}

describe("copies and checks", () => {
  it("backup and restore replace nothing without --overwrite", async () => {
    const path = newPath();
    const backup = join(newFolder(), "backup.db");
    await addElsewhere("before", path);
    expect(await holdfast(["backup", backup, "--path", path])).toMatchObject({
      code: 0,
      out: expect.stringContaining("1 item"),
    });
    expect(await holdfast(["backup", backup, "--path", path])).toMatchObject({ code: 1 });
    expect((await holdfast(["backup", backup, "--overwrite", "--path", path])).code).toBe(0);
    await addElsewhere("after", path);
    expect(await holdfast(["restore", backup, "--path", path])).toMatchObject({ code: 1 });
    expect(jsonOf(await holdfast(["restore", backup, "--overwrite", "--path", path, "--json"]))).toMatchObject({
      items: 1,
    });
    expect((await holdfast(["query", "after", "--path", path])).out).toBe("");
    const fresh = newPath();
    expect((await holdfast(["restore", backup, "--path", fresh])).code).toBe(0);
  });

  it("the doctor checks more with --deep, and repairs with --repair", async () => {
    const path = newPath();
    await holdfast(["add", "tea", "--path", path]);
    const quick = await holdfast(["doctor", "--path", path]);
    expect(quick).toMatchObject({ code: 0, out: expect.stringContaining("no problems found") });
    expect(quick.out).toContain("quick check");
    expect((await holdfast(["doctor", "--deep", "--path", path])).out).not.toContain("quick check");
    chmodSync(path, 0o644);
    expect((await holdfast(["doctor", "--path", path])).out).toContain("chmod 600");
    expect(statSync(path).mode & 0o777).toBe(0o644);
    const mended = await holdfast(["doctor", "--repair", "--path", path]);
    expect(mended).toMatchObject({ code: 0, out: expect.stringContaining("repaired: made the file private") });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    writeFileSync(path, "this is no database at all, but long enough to look like a file of some kind".repeat(99));
    const broken = await holdfast(["doctor", "--path", path, "--json"]);
    expect(broken.code).toBe(1);
    expect(jsonOf(broken)).toMatchObject({ state: "error" });
  });
});
