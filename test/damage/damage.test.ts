/**
 * Damaged files: truncated, overwritten with garbage, with tables removed, before they are opened and while they are
 * open. Every call returns, or fails with a HoldfastError and a hint; nothing hangs, and no process dies.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { Child } from "../support/child.js";
import { newPath, open } from "../support/opened.js";
import { HashEmbedder } from "../support/product.js";
import { Random, testSeed } from "../support/random.js";
import type { Order, Report } from "./caller.js";
import { ALTERED, DAMAGES } from "./damages.js";

/** How many times each random damage is tried. */
const TRIES = Number(process.env["HOLDFAST_TEST_DAMAGES"] ?? 1);
const TIMEOUT_MS = 300_000;

let folder = "";
const soundFile = (): string => join(folder, "sound.db");
const random = new Random(testSeed("damage"));

/** A file with something of everything. */
async function fill(path: string): Promise<void> {
  const memory = await open({ path, embedder: new HashEmbedder() });
  const session = memory.session({ user: "ada", session: "monday" });
  const topics = ["garden", "river", "harbour", "bridge", "market"];
  const text = (at: number) => `${topics[at % 5]} number ${at}, by the ${topics[(at * 7 + 1) % 5]} where we met`;
  await session.addBatch(
    Array.from({ length: 120 }, (_, at) => [
      { id: `m${at}`, role: "user", name: "Ada", content: text(at), metadata: { topic: topics[at % 5] as string } },
      { id: `a${at}`, role: "assistant", content: `I see: ${text(at + 1)} ${"and so on ".repeat(at % 30)}` },
    ]),
    { idempotencyKey: "first" },
  );
  await memory.session({ user: "ada", session: "tuesday" }).add([{ role: "user", content: "a second garden" }]);
  await memory.session({ user: "bob" }).add([{ role: "user", content: "bob has a garden too" }]);
  await session.blocks.create({ name: "persona", content: "a gardener\n".repeat(40), reason: "new" });
  await session.blocks.edit("persona", { append: "who sings", reason: "more" });
  await session.facts.upsert({ category: "home", content: "Ada lives in Porto", pinned: true });
  await session.facts.upsert({ category: "home", content: "Ada lives in Lisbon" });
  await memory
    .session({ user: "ada", session: "monday" }, { grants: [{ team: "crew" }] })
    .promote(["m4"], { to: { team: "crew" }, reason: "for all" });
  await memory.keys.create({ name: "reader", access: "read", spaces: [{ user: "ada" }] });
  await session.context({ query: "garden", counter: "chars4" });
  await memory.flush();
  await memory.close();
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-damage-"));
  await fill(soundFile());
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Sends orders to one process, one after the other, and collects its reports. */
async function callAll(orders: readonly Omit<Order, "path" | "sound">[]): Promise<string[]> {
  const faults: string[] = [];
  let at = -1;
  let refused = 0;
  const child = new Child<Order, Report | "ready">(new URL("./caller.js", import.meta.url), [], (report) => {
    if (report !== "ready") {
      const { damage, seed, isOpen } = orders[at] as Order;
      refused += report.refused;
      for (const fault of report.faults)
        faults.push(`${damage}${isOpen ? " while open" : ""} (seed ${seed}): ${fault}`);
    }
    const next = orders[++at];
    if (next) child.give({ ...next, sound: soundFile(), path: newPath() });
    else child.kill();
  });
  onTestFinished(() => child.kill());
  const { signal, code, stderr } = await child.ended;
  const last = orders[at];
  if (at < orders.length) faults.push(`the process died of ${signal ?? code} at ${JSON.stringify(last)}: ${stderr}`);
  expect(refused).toBeGreaterThan(0);
  return faults;
}

const tries = (damage: string, isOpen: boolean) =>
  Array.from({ length: TRIES }, () => ({ damage, isOpen, seed: random.between(0, 2 ** 31) }));

describe("a damaged file", () => {
  it.each(Object.keys(DAMAGES))(
    "%s: every call returns or says what to do",
    async (damage) => {
      expect(await callAll([...tries(damage, false), ...tries(damage, true)])).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it(
    "with tables altered by another program: every call returns or says what to do",
    async () => {
      expect(await callAll(Object.keys(ALTERED).map((damage) => ({ damage, isOpen: false, seed: 0 })))).toEqual([]);
    },
    TIMEOUT_MS,
  );
});
