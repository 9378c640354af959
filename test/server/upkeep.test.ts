/** The configuration in force, doctor, backups and imports in progress, over HTTP. */
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { openMemory } from "holdfast";
import { connect, type ImportProgress } from "holdfast/client";
import { describe, expect, it } from "vitest";
import { until } from "../support/until.js";
import { exportLines } from "./samples.js";
import { newPath, start, startWithKeys } from "./started.js";

const SECRETS = ["s3cret-key", "s3cret-password", "s3cret-token"] as const;

describe("the configuration in force", () => {
  it("says where each option comes from, and never a secret", async () => {
    const path = newPath();
    const config = join(dirname(path), "holdfast.yaml");
    const text = `embedding:
  base_url: https://ada:${SECRETS[1]}@models.example.com/v1/?token=${SECRETS[2]}
  api_key: ${SECRETS[0]}
buffer:
  hybrid_buffer:
    embedding_model: none
`;
    writeFileSync(config, text);
    const { url } = await start({ path, config, server: { maxRequests: 99 } });
    const settings = await connect(url).config();
    const of = (name: string) => settings.find((one) => one.name === name);
    expect(of("embedding.base_url")).toEqual({
      name: "embedding.base_url",
      variable: "HOLDFAST_EMBEDDING_BASE_URL",
      value: "https://models.example.com/v1",
      isSet: true,
      isSecret: false,
      origin: { from: "file", path: config, line: 2 },
    });
    expect(of("embedding.api_key")).toEqual({
      name: "embedding.api_key",
      variable: "HOLDFAST_EMBEDDING_API_KEY",
      isSet: true,
      isSecret: true,
      origin: { from: "file", path: config, line: 3 },
    });
    expect(of("qdrant.api_key")).toMatchObject({ isSet: false, origin: { from: "default" } });
    expect(of("server.max_requests")).toMatchObject({ value: 99, fallback: 512, origin: { from: "code" } });
    expect(of("store.path")).toMatchObject({ value: path, origin: { from: "code" } });
    const answer = JSON.stringify(settings);
    for (const secret of SECRETS) expect(answer).not.toContain(secret);
  });
});

describe("doctor", () => {
  it("reports its progress, then what it found", async () => {
    const { url } = await start({ path: newPath() });
    const steps: string[] = [];
    const { state, checks } = await connect(url).inspect({ deep: true, onProgress: ({ step }) => steps.push(step) });
    expect(state).not.toBe("error");
    expect(checks.map(({ name }) => name)).toContain("integrity");
    expect(steps.length).toBeGreaterThan(0);
  });

  it("is refused for a memory without a file, with a hint", async () => {
    const { url } = await start();
    const refused = { code: "unsupported", hint: expect.stringContaining("path") };
    await expect(connect(url).inspect()).rejects.toMatchObject(refused);
    await expect(connect(url).backup()).rejects.toMatchObject(refused);
  });

  it("stops when the caller leaves", async () => {
    const { url } = await start({ path: newPath() });
    const ending = new AbortController();
    const reason = new Error("enough");
    const work = connect(url).inspect({ signal: ending.signal, onProgress: () => ending.abort(reason) });
    await expect(work).rejects.toBe(reason);
  });
});

describe("a backup over HTTP", () => {
  const around = (path: string): readonly string[] =>
    readdirSync(dirname(path)).filter((name) => name.startsWith(`${basename(path)}-backup`));

  it("is the whole memory, and nothing of it stays beside the file", async () => {
    const path = newPath();
    const { url } = await start({ path });
    const memory = connect(url);
    await memory.session({ user: "ada" }).add([{ id: "m1", role: "user", content: "I like figs." }]);
    const { name, bytes, content } = await memory.backup();
    expect(name).toMatch(/^holdfast-[\dT-]+\.db$/);
    expect(around(path), "it is gone before it is read").toEqual([]);
    const whole = Buffer.from(await new Response(content).arrayBuffer());
    expect(whole.length).toBe(bytes);
    const copy = newPath();
    writeFileSync(copy, whole, { mode: 0o600 });
    const opened = await openMemory(copy);
    expect(await opened.session({ user: "ada" }).get(["m1"])).toMatchObject([{ content: "I like figs." }]);
    await opened.close();
  });

  it("of a file that was removed fails, and does not name it to the caller", async () => {
    const path = newPath();
    const caller = await start({ path });
    rmSync(path);
    const { status, text } = await caller.send("GET /api/v1/backup");
    expect([status, text.includes(path)]).toEqual([503, false]);
  });

  it("removes what a killed server has left of one", async () => {
    const path = newPath();
    const { url } = await start({ path });
    const memory = connect(url);
    const [, place] = /-backup\.([0-9a-f]{8})-/.exec(await nameOfPart(path)) ?? [];
    const dead = `${path}-backup.${place}-999999999-1-0123abcd.part`;
    const half = `${dead}.${place}-999999999-1-4567cdef.part`;
    for (const left of [dead, half]) writeFileSync(left, "left behind");
    await memory.backup().then(({ content }) => content.cancel());
    expect([existsSync(dead), existsSync(half)]).toEqual([false, false]);
  });
});

/** The name of a part of a backup, as this machine makes it. */
async function nameOfPart(path: string): Promise<string> {
  const { partFileOf } = (await import(new URL("../../lib/upkeep/part-file.js", import.meta.url).href)) as {
    readonly partFileOf: (target: string) => string;
  };
  return partFileOf(`${path}-backup`);
}

describe("an import in progress", () => {
  it("is listed with what it has read and written, for its sender alone", async () => {
    const { anyone, admin } = await startWithKeys();
    const made = await admin.data<{ secret: string }>("POST /api/v1/keys", {
      body: { access: "write", spaces: [{ user: "ada" }] },
    });
    const writer = anyone.as(made.secret);
    const [header = "", ...rest] = exportLines("ada").split(/(?<=\n)/);
    const pieces = new TransformStream<Uint8Array, Uint8Array>();
    const sender = pieces.writable.getWriter();
    const encoder = new TextEncoder();
    const sent = fetch(`${anyone.url}/api/v1/import?id=nightly`, {
      method: "POST",
      headers: { authorization: `Bearer ${made.secret}`, "content-type": "application/x-ndjson" },
      body: pieces.readable,
      duplex: "half",
    } as RequestInit);
    await sender.write(encoder.encode(header));
    const listed = async (caller: typeof writer) =>
      (await caller.data<{ imports: readonly ImportProgress[] }>("GET /api/v1/imports")).imports;
    await until(async () => (await listed(writer))[0]?.bytes === header.length);
    expect(await listed(writer)).toMatchObject([{ id: "nightly", bytes: header.length }]);
    expect(await listed(admin)).toEqual([]);
    const again = await writer.send("POST /api/v1/import", { query: { id: "nightly" }, body: exportLines("ada") });
    expect([again.status, await listed(writer)], "a retry takes the place of the first attempt").toEqual([200, []]);
    for (const line of rest) await sender.write(encoder.encode(line));
    await sender.close();
    expect((await sent).status).toBe(200);
    expect(await listed(writer)).toEqual([]);
  });

  it("is reported to the client while it runs", async () => {
    const { url } = await start();
    const told: ImportProgress[] = [];
    const line = '{"role":"user","content":"I like figs."}';
    async function* lines(): AsyncGenerator<string, void, void> {
      yield line;
      await until(() => (told.at(-1)?.bytes ?? 0) > 0);
      yield '{"role":"user","content":"I like plums."}';
    }
    const options = { scope: { user: "ada" }, onProgress: (progress: ImportProgress) => told.push(progress) };
    expect(await connect(url).import(lines(), options)).toMatchObject({ lines: 2, items: 2 });
    expect(told.at(-1)).toMatchObject({ bytes: line.length + 1 });
  });

  it("takes a file as it is, and again adds nothing", async () => {
    const { url } = await start();
    const file = new Blob([exportLines("ada")]);
    expect(await connect(url).import(file)).toMatchObject({ items: 1, repeated: 0 });
    expect(await connect(url).import(file)).toMatchObject({ items: 0, repeated: 2 });
  });
});
