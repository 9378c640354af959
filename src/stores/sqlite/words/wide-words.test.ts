/** One message with very many distinct words, which the thread that writes for everyone must not spend seconds on. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Done, NewRow, Write } from "../../store.js";
import { type Database, openDatabase } from "../file/driver.js";
import { SLICE_UNITS, TERMS_ENOUGH, wordsOf } from "../rows/item-row.js";
import { Writer } from "../writer.js";
import { WordReader } from "./word-reader.js";

const ANN = { user: "ann" };
const BOB = { user: "bob" };
const NOW = 1_000_000;

/** A word of its own for each number, with nothing to stem. */
const word = (at: number): string => `q${String(at).replace(/\d/g, (digit) => "bcdfghjkmn".charAt(Number(digit)))}x`;
const text = (from: number, count: number): string =>
  Array.from({ length: count }, (_, at) => word(from + at)).join(" ");

/** More words than leave the index at once. */
const WIDE = text(0, 5_000);

const row = (id: string, content: string, expiresAt?: number): NewRow => ({
  ...{ id, content, kind: "message", role: "user", tier: "episodic", metadata: {}, occurredAt: NOW },
  ...(expiresAt !== undefined && { expiresAt }),
});

const add = (space: { readonly user: string }, ...items: NewRow[]): Write => ({
  ...{ op: "add", space, session: "s", items, existing: "same" },
});

describe("a message with many distinct words", () => {
  let folder: string;
  let writer: Writer;
  let database: Database;
  let groups = 0;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "holdfast-test-"));
    const path = join(folder, "memory.db");
    writer = await Writer.open({ path, busyTimeoutMs: 10_000, id: "me" });
    database = openDatabase(path, true);
    await commit(add(BOB, ...Array.from({ length: 100 }, (_, at) => row(`b${at}`, text(at * 10, 40)))));
  });

  afterEach(async () => {
    database.close();
    await writer.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function commit(write: Write, now = NOW): Promise<Done | undefined> {
    const { outcomes } = await writer.commit([[write]], now, `g${++groups}`);
    const [outcome] = outcomes;
    if (!outcome?.ok) throw new Error(JSON.stringify(outcome));
    return outcome.done[0];
  }

  /** 2: words are marked, to be merged away · 1: all are out of the index already · 0: nothing was forgotten. */
  const purgeLevel = (): number => Number(database.prepare("SELECT purge FROM head").get()?.["purge"]);

  const keyOf = (space: { readonly user: string }): number =>
    Number(database.prepare("SELECT key FROM space WHERE name = ?").get(space.user)?.["key"]);

  const containing = (space: { readonly user: string }, ...terms: string[]): number[] => {
    const reader = new WordReader(database);
    return terms.map((term) => reader.containing(keyOf(space), term));
  };

  /** How much the index has in its pages, what is marked as gone included. */
  const segmentBytes = (): number =>
    Number(database.prepare("SELECT sum(length(block)) AS bytes FROM words_data WHERE id > 10").get()?.["bytes"]);

  /** Merges what is marked, with an add of another user after each slice. */
  async function mergeBetweenAdds(): Promise<number> {
    let slices = 0;
    for (let isMore = await writer.mergeWords("first"); isMore; isMore = await writer.mergeWords("next")) {
      const late = `late${slices++}`;
      await commit(add(BOB, row(late, `lantern ${word(slices)}`)));
    }
    return slices;
  }

  it("is forgotten by marks and a merge in slices, between which others add", async () => {
    const kept = [1, 2].map((at) => row(`kept${at}`, text(at * 100_000, 100_000)));
    await commit(add(BOB, ...kept)); // pages for several slices
    const before = segmentBytes();
    await commit(add(ANN, row("wide", text(0, 60_000))));
    const full = segmentBytes();
    const bobs = containing(BOB, word(7), word(500));
    await commit({ op: "forget", target: { space: ANN, ids: ["wide"] } });
    expect(purgeLevel()).toBe(2);
    expect(containing(ANN, word(7), word(4_999))).toEqual([0, 0]);
    const slices = await mergeBetweenAdds();
    expect(slices).toBeGreaterThan(1);
    expect(segmentBytes() - before, "its words are out of the pages").toBeLessThan((full - before) / 2);
    expect(containing(BOB, "lantern")).toEqual([slices]);
    expect(containing(BOB, word(500))).toEqual(bobs.slice(1));
  });

  it("leaves the index by marks when it is edited, and others keep their words", async () => {
    await commit(add(ANN, row("wide", WIDE), row("other", text(0, 40))));
    await commit({ op: "update", space: ANN, id: "wide", patch: { content: `${text(100, 50)} lantern` } });
    expect(purgeLevel()).toBe(2);
    await mergeBetweenAdds();
    expect(containing(ANN, word(7), word(120), word(4_999), "lantern")).toEqual([1, 1, 0, 1]);
    await commit({ op: "update", space: ANN, id: "wide", patch: { content: WIDE } });
    expect(containing(ANN, word(7), word(120), word(4_999), "lantern")).toEqual([2, 1, 1, 0]);
  });

  it("leaves the index by marks when it expires", async () => {
    await commit(add(ANN, row("wide", WIDE, NOW + 1_000)));
    await commit({ op: "forget", target: { expired: true } }, NOW + 2_000);
    expect(containing(ANN, word(7))).toEqual([0]);
    expect(purgeLevel()).toBe(2);
  });

  it("is one slice of a forget if its words leave the index at once", async () => {
    const ids = ["a", "b", "c", "d"];
    await commit(add(ANN, ...ids.map((id, at) => row(id, text(at * 10_000, 1_500)))));
    const remaining: unknown[] = [];
    for (const _ of ids) {
      const done = await commit({ op: "forget", target: { space: ANN, ids } });
      remaining.push(done?.op === "forget" && [done.items, done.remaining]);
    }
    expect(remaining).toEqual([
      [1, true],
      [1, true],
      [1, true],
      [1, false],
    ]);
    expect(purgeLevel()).toBe(1);
  });

  it("is indexed to its end, however long it is, unless it has too many distinct words", () => {
    const long = "sea ".repeat(SLICE_UNITS / 2);
    const { counts } = wordsOf("Ann", `${long}lantern`);
    expect([...counts.keys()].sort()).toEqual([...wordsOf("Ann", "sea lantern").counts.keys()].sort());
    expect(counts.get("sea")).toBe(SLICE_UNITS / 2);
    const distinct = Array.from({ length: 2 * TERMS_ENOUGH }, (_, at) => `w${at.toString(36)}x`).join(" ");
    const wide = wordsOf("Ann", `${distinct} ${" ".repeat(SLICE_UNITS)} lantern`).counts;
    expect([wide.has("w0x"), wide.has("lantern")]).toEqual([true, false]);
    const cutInEmoji = `${"a".repeat(SLICE_UNITS - 1)}🐈`;
    expect(wordsOf(undefined, cutInEmoji).words.isWellFormed()).toBe(true);
  });
});
