/**
 * Failures of the embedder and of the store: nothing is lost, nothing is stale, and the pipeline recovers without help.
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { HashEmbedder } from "holdfast/testing";
import { describe, expect, it } from "vitest";
import { newPath, open } from "../support/opened.js";
import { openRaw } from "../support/raw.js";
import { until } from "../support/until.js";
import { auditVectors } from "../support/vectors.js";
import { MirrorEmbedder, mirrored } from "./mirror.js";

const ADA = { user: "ada", session: "s" };
const said = (content: string) => ({ role: "user" as const, content });

function count(path: string, table: string): number {
  const database = openRaw(path);
  const rows = Number(database.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.["rows"]);
  database.close();
  return rows;
}

async function withPoison(path = newPath()) {
  const embedder = new MirrorEmbedder();
  embedder.refuse((text) => /poison|nosiop/.test(text)); // or its mirror image
  const memory = await open({ path, embedder });
  const session = memory.session(ADA);
  const { ids } = await session.add([said("blue kettle"), said("poison ivy"), said("green lamp")]);
  expect(await session.flush()).toEqual({ pending: 0, parked: 1 });
  return { path, embedder, memory, session, id: String(ids[1]) };
}

describe("a message that the model refuses", () => {
  it("is parked with its error and found by words; replay embeds it when the model takes it", async () => {
    const { embedder, memory, session, id } = await withPoison();
    const { items } = await session.parked();
    expect(items).toMatchObject([{ id, session: "s", space: { user: "ada" }, attempts: 1, version: 1 }]);
    expect(JSON.stringify(items)).not.toContain("poison");
    expect((await memory.session({ user: "bob" }).parked()).items).toEqual([]);
    expect((await session.query("ivy")).map((hit) => hit.id)).toEqual(expect.arrayContaining([id]));
    expect(await memory.session({ user: "bob" }).replay()).toBe(0);
    expect(await session.replay(["nobody"])).toBe(0);
    expect(await session.replay()).toBe(1); // in vain
    expect(await session.flush()).toEqual({ pending: 0, parked: 1 });
    embedder.refuse(() => false);
    expect(await session.replay([id])).toBe(1);
    expect(await session.flush()).toEqual({ pending: 0, parked: 0 });
    expect((await session.query(mirrored("poison ivy")))[0]).toMatchObject({ id, level: "store" });
    expect((await session.parked()).items).toEqual([]);
  });

  it("is taken up again when its text is edited", async () => {
    const { session, id } = await withPoison();
    await session.update(id, { content: "harmless ivy" });
    expect(await session.flush()).toEqual({ pending: 0, parked: 0 });
    expect((await session.query(mirrored("harmless ivy")))[0]?.id).toBe(id);
  });

  it("stays parked over a restart, and its row goes with its user", async () => {
    const { path, memory } = await withPoison();
    expect(await memory.close()).toMatchObject({ pending: 0, parked: 1 });
    const again = await open({ path, embedder: new MirrorEmbedder() });
    expect((await again.session(ADA).parked()).items).toHaveLength(1);
    expect(count(path, "parked")).toBe(1);
    await again.forget({ user: "ada" });
    expect(count(path, "parked")).toBe(0);
    expect(count(path, "lease")).toBe(0);
    expect((await again.stats()).store).toMatchObject({ items: 0, embedded: 0, chunks: 0, parked: 0, pending: 0 });
  });
});

describe("another process that holds the write lock", () => {
  it("delays the vectors and loses none: they stay searchable, and are written by themselves when it lets go", async () => {
    const path = newPath();
    const memory = await open({ path, embedder: new MirrorEmbedder(), store: { busyTimeoutMs: 20 } });
    const session = memory.session(ADA);
    await session.add([said("blue kettle"), said("green lamp")]);
    await until(() => memory.service.buffers.hybrid?.itemCount === 2);
    const other = openRaw(path);
    other.exec("BEGIN IMMEDIATE");
    expect(await memory.flush()).toEqual({ pending: 2, parked: 0 });
    expect((await session.query(mirrored("blue kettle")))[0]).toMatchObject({
      content: "blue kettle",
      level: "hybrid",
    });
    other.exec("ROLLBACK");
    other.close();
    await until(async () => (await memory.stats()).store.pending === 0); // nobody calls flush
    expect((await session.query(mirrored("blue kettle")))[0]).toMatchObject({ content: "blue kettle", level: "store" });
    expect(memory.service.buffers.hybrid).toMatchObject({ itemCount: 0, itemsWritten: 2, itemsDropped: 0 });
  });
});

describe("a full disk", () => {
  it("loses nothing that was acknowledged: it is all embedded, rightly, when there is room again", async () => {
    const path = newPath();
    const script = `trap '' XFSZ; ulimit -f 900; exec "$@"`;
    const child = fileURLToPath(new URL("./disk-full-embedder.js", import.meta.url));
    const output = execFileSync("bash", ["-c", script, "bash", process.execPath, child, path], {
      encoding: "utf8",
      timeout: 300_000,
    });
    const { acknowledged, refused } = JSON.parse(output) as { acknowledged: string[]; refused: number };
    expect(refused).toBeGreaterThan(0);
    expect(acknowledged.length).toBeGreaterThan(5);
    const memory = await open({ path, embedder: new HashEmbedder() });
    await until(async () => (await memory.flush()).pending === 0); // the child's leases end with it
    const items = acknowledged.length;
    expect(await auditVectors(path, "message")).toMatchObject({ items, compared: items, pending: 0, problems: [] });
  });
});
