/** What the buffers and the vectors in memory take for ordinary messages, in bytes. */
import type { Memory } from "holdfast";
import { HashEmbedder } from "holdfast/testing";
import { describe, expect, it } from "vitest";
import { open } from "../support/opened.js";
import { until } from "../support/until.js";

const MIB = 1024 * 1024;
/** As many numbers as the model in the package gives. */
const DIMENSIONS = 384;
const FLOAT_BYTES = Float32Array.BYTES_PER_ELEMENT;

const message = (at: number) => ({
  role: "user" as const,
  content: `On day ${at} we talked about topic${at % 100} for an hour, and agreed to look at it again ${"soon ".repeat(20)}`,
});

/** So many messages of 20 sessions, in rounds of 50. */
async function add(memory: Memory, count: number): Promise<void> {
  for (let at = 0; at < count; at += 50) {
    const session = memory.session({ user: "ada", session: `s${(at / 50) % 20}` });
    await session.add(Array.from({ length: 50 }, (_, more) => message(at + more)));
  }
}

describe("the buffers", () => {
  it("take less than 8 MB: 5 for 2,000 embedded messages that are not yet written, 2 for 100 answers", async () => {
    const memory = await open({
      path: ":memory:",
      embedder: new HashEmbedder({ dimensions: DIMENSIONS }),
      buffer: { hybridBuffer: { maxSize: 10_000 } }, // nothing is written before all are there
    });
    await add(memory, 2_000);
    await until(() => memory.service.buffers.hybrid?.itemCount === 2_000);
    const full = await memory.stats();
    const hybridBytes = full.meaning?.hybrid.bytes ?? 0;
    expect(hybridBytes).toBeGreaterThan(2_000 * DIMENSIONS * FLOAT_BYTES);
    expect(hybridBytes).toBeLessThan(5 * MIB);
    expect(full.health.memory.value).toBe(hybridBytes + (full.meaning?.round.bytes ?? 0));

    await memory.flush();
    const session = memory.session({ user: "ada" });
    for (let at = 0; at < 100; at++) expect(await session.query(`topic${at}`, { deadlineMs: 60_000 })).toHaveLength(10);
    const { meaning, query, health } = await memory.stats();
    expect(meaning?.hybrid.bytes).toBe(0);
    expect(query.answers.entries).toBe(100);
    expect(query.bytes).toBeLessThan(2 * MIB);
    expect(health.memory.value).toBe(query.bytes);
    expect(hybridBytes + query.bytes).toBeLessThan(8 * MIB);
  });
});

describe("the vectors of a space in memory", () => {
  it("take less than three quarters of the bytes that they have as floats", async () => {
    const memory = await open({ path: ":memory:", embedder: new HashEmbedder({ dimensions: DIMENSIONS }) });
    await add(memory, 4_000);
    await memory.flush();
    const [hit] = await memory.session({ user: "ada" }).query("topic7", { deadlineMs: 60_000 });
    expect(hit?.level).toBe("store");
    const mirrors = await memory.service.store.mirrors?.();
    expect(mirrors?.vectors).toBe(4_000);
    expect(mirrors?.bytes).toBeLessThan(4_000 * DIMENSIONS * FLOAT_BYTES * 0.75); // half, and pages that are not full
  });
});
