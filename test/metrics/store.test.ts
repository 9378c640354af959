/** Metrics and readiness of a memory on a real file: written data counts, and a locked file is not writable. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Memory, OpenOptions } from "holdfast";
import { afterEach, describe, expect, it } from "vitest";
import type * as metricsModule from "../../build/lib/metrics/metrics.js";
import type * as readinessModule from "../../build/lib/metrics/readiness.js";
import { newPath } from "../support/opened.js";
import { HashEmbedder } from "../support/product.js";
import { commitsOf, openRaw } from "../support/raw.js";
import { root } from "../support/root.js";

const part = (path: string): Promise<unknown> => import(pathToFileURL(join(root, "build/lib/metrics", path)).href);
const { Metrics } = (await part("metrics.js")) as typeof metricsModule;
const { readiness } = (await part("readiness.js")) as typeof readinessModule;
const { Registry } = await import("prom-client");
// Readiness is not public; the memory is of the same compile, so that it knows its errors.
const { openMemory } = (await part("../index.js")) as typeof import("holdfast");

const memories: Memory[] = [];
afterEach(async () => {
  for (const memory of memories.splice(0)) await memory.close();
});

async function open(options: OpenOptions): Promise<Memory> {
  const memory = await openMemory(options);
  memories.push(memory);
  return memory;
}

describe("readiness", () => {
  it("is proved by a write that others see, and leaves nothing of it", async () => {
    const path = newPath();
    const memory = await open({ path });
    await memory.session({ user: "ada" }).add([{ role: "user", content: "hello" }]);
    const before = commitsOf(path);
    const raw = openRaw(path);
    const version = () => Number(raw.prepare("PRAGMA data_version").get()?.["data_version"]);
    const seen = version();
    expect(await readiness(memory)).toMatchObject({
      ready: true,
      checks: { store: { writable: true }, model: "none" },
    });
    expect(version()).toBeGreaterThan(seen);
    raw.close();
    expect(commitsOf(path)).toBe(before);
    expect((await memory.stats()).store).toMatchObject({ items: 1, pending: 1 });
  });

  it("is denied while another program holds the write lock, and restored when it is released", async () => {
    const path = newPath();
    const memory = await open({ path, store: { busyTimeoutMs: 50 } });
    const raw = openRaw(path);
    raw.exec("BEGIN IMMEDIATE");
    expect(await readiness(memory)).toMatchObject({
      ready: false,
      checks: { store: { writable: false, error: "busy" }, queue: { pending: 0 } },
    });
    raw.exec("COMMIT");
    raw.close();
    expect(await readiness(memory)).toMatchObject({ ready: true });
  });
});

it("metrics of a file report its bytes, and what is mirrored in memory", async () => {
  const path = newPath();
  const memory = await open({ path, embedder: new HashEmbedder() });
  const metrics = new Metrics(memory, new Registry());
  const numbers = async () => {
    const lines = (await metrics.text()).split("\n").filter((line) => line.startsWith("holdfast_"));
    return Object.fromEntries(
      lines.map((line) => [line.slice("holdfast_".length, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]),
    );
  };
  expect(await numbers()).toMatchObject({ up: 1, 'cache_entries{cache="mirrors"}': 0 });
  const session = memory.session({ user: "ada" });
  await session.add([{ role: "user", content: "a lamp" }]);
  await memory.flush();
  await session.query("lamp");
  const after = await numbers();
  expect(after).toMatchObject({
    store_items: 1,
    embedded_items: 1,
    pending_items: 0,
    'cache_entries{cache="mirrors"}': 1,
    'cache_misses_total{cache="mirrors"}': 1,
  });
  for (const name of ["store_bytes", 'cache_bytes{cache="mirrors"}']) {
    expect(after[name], name).toBeGreaterThan(0);
  }
  metrics.close();
});
