/** Items kept in memory for searches by words: never other than the file has them, never more than they may take. */
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import type { Reader as ReaderOf } from "../../dist/stores/sqlite/reader.js";
import { alter, newPath } from "../support/opened.js";
import { Random, testSeed } from "../support/random.js";
import { root } from "../support/root.js";
import { Embedding, NOW, newRow } from "./embedding.js";

const { Reader } = (await import(pathToFileURL(join(root, "dist/stores/sqlite/reader.js")).href)) as {
  readonly Reader: typeof ReaderOf;
};

const MIB = 1024 * 1024;
const TOPICS = "garden river kernel piano bakery ocean lantern teapot violin harbour mountain sandwich".split(" ");
const NAMES = [undefined, "Ocean", "Grace"];
const ADA = { user: "ada" };
const BOB = { user: "bob" };

const readers: ReaderOf[] = [];
afterEach(() => {
  for (const reader of readers.splice(0)) reader.close();
});

function reading(path: string, rosterBytes: number): ReaderOf {
  const reader = new Reader(path, "reader", { bytes: rosterBytes });
  readers.push(reader);
  return reader;
}

type Request = Parameters<ReaderOf["searchWords"]>[0];

const asked = (terms: readonly string[], more: Partial<Request> = {}): Request => ({
  ...{ spaces: [ADA], terms, filter: {}, limit: 50, now: NOW },
  ...more,
});

/** Asks, and lets what was asked for be loaded. What the rosters take then. */
async function load(reader: ReaderOf, request = asked(["river"])): Promise<number> {
  reader.searchWords(request);
  for (;;) {
    await turn();
    const bytes = reader.rosterBytes();
    if (bytes !== undefined) return bytes;
  }
}

class World {
  readonly #random: Random;
  readonly #embedding: Embedding;
  readonly #ids: string[] = [];
  #count = 0;
  now = NOW;

  constructor(random: Random, embedding: Embedding) {
    this.#random = random;
    this.#embedding = embedding;
  }

  #words(): string {
    const count = this.#random.between(1, 12);
    return Array.from({ length: count }, () => this.#random.pick(TOPICS)).join(" ");
  }

  async add(count: number): Promise<void> {
    const session = this.#random.pick([undefined, "s", "t", "u"]);
    const items = Array.from({ length: count }, () => {
      const id = `item-${++this.#count}`;
      this.#ids.push(id);
      const name = this.#random.pick(NAMES);
      const expiresAt = this.#random.chance(0.1) ? this.now + this.#random.between(1, 100) : undefined;
      return {
        ...newRow({ id, content: this.#words(), ...(this.#random.chance(0.2) && { role: "tool" as const }) }),
        ...(name !== undefined && { name }),
        ...(expiresAt !== undefined && { expiresAt }),
      };
    });
    const space = this.#random.chance(0.8) ? ADA : BOB;
    await this.#embedding.unit({
      ...{ op: "add", space, items, existing: "same" as const },
      ...(session !== undefined && { session }),
    });
  }

  /** One change of some kind. */
  async change(): Promise<void> {
    const id = this.#random.pick(this.#ids);
    const space = ADA;
    const kind = this.#random.pick(["add", "add", "edit", "edit", "expire", "forget", "session", "retention", "time"]);
    if (kind === "add") await this.add(this.#random.between(1, 4));
    else if (kind === "time") this.now += this.#random.between(1, 30);
    else if (kind === "forget") await this.#embedding.forget({ space, ids: [id] });
    else if (kind === "session" && this.#random.chance(0.2)) {
      await this.#embedding.forget({ space, session: "u", entry: this.#random.chance(0.5) });
    } else if (kind === "retention") {
      const retentionMs = this.#random.pick([null, null, 50, 1_000]);
      await this.#embedding.unit({ op: "amend", entry: { kind: "user", name: "ada" }, retentionMs });
    } else {
      const [known] = await this.#embedding.store.get([space], [id], this.now);
      if (!known) return;
      const patch =
        kind === "edit"
          ? { content: this.#words(), parts: null, role: this.#random.pick(["user", "assistant"] as const) }
          : { expiresAt: this.#random.chance(0.5) ? null : this.now + 20, occurredAt: this.now };
      await this.#embedding.unit({ op: "update", space, id, patch });
    }
  }

  question(keys: readonly number[]): Request {
    const terms = [...new Set(Array.from({ length: this.#random.between(1, 4) }, () => this.#random.pick(TOPICS)))];
    const filters: readonly Request["filter"][] = [
      ...[{}, {}, {}, { sessions: ["s"] }, { sessions: ["t", "u"], from: NOW }],
      { roles: ["tool"] },
    ];
    const filter = this.#random.pick(filters);
    return asked(terms, {
      spaces: this.#random.pick([[ADA], [ADA], [BOB], [ADA, BOB]]),
      filter,
      limit: this.#random.pick([5, 50, 500]),
      now: this.now,
      ...(this.#random.chance(0.3) && { keys: keys.filter(() => this.#random.chance(0.3)) }),
    });
  }
}

describe("rosters", () => {
  it("find what the file has, whatever was added, edited, forgotten or has expired, by whichever process", async () => {
    const seed = testSeed("rosters");
    const random = new Random(seed);
    const path = newPath();
    const embedding = await Embedding.open(path, 4);
    const world = new World(random, embedding);
    for (let at = 0; at < 20; at++) await world.add(8);
    const kept = reading(path, 32 * MIB);
    const plain = reading(path, 0);
    expect(await load(kept, asked(["river"], { spaces: [ADA, BOB] }))).toBeGreaterThan(10_000);
    let served = 0;
    for (let step = 0; step < 400; step++) {
      await world.change();
      const keys = plain.searchWords(asked(TOPICS, { now: world.now, limit: 1_000 })).map(({ key }) => key);
      for (let questions = 0; questions < 3; questions++) {
        const request = world.question(keys);
        const expected = plain.searchWords(request);
        expect(kept.searchWords(request), `seed ${seed}, step ${step}`).toEqual(expected);
        const isPlain = Object.keys(request.filter).length === 0;
        const atHand = kept.searchAtHand(request, false);
        if (atHand) expect(atHand, `seed ${seed}, step ${step}`).toEqual(expected);
        expect(plain.searchAtHand(request, true), `seed ${seed}, step ${step}`).toEqual(isPlain ? expected : undefined);
        served += atHand ? 1 : 0;
      }
      if (random.chance(0.05)) await turn(); // what was dropped is loaded again
    }
    expect(plain.rosterBytes(), "the other had none").toBe(0);
    expect(served, "most that have no filter").toBeGreaterThan(300);
  });

  it("are as new as the file while they are being loaded", async () => {
    const path = newPath();
    const embedding = await Embedding.open(path, 4);
    const rows = Array.from({ length: 1_000 }, (_, at) => ({ id: `i${at}`, content: `${TOPICS[at % 12]} ${at}` }));
    await embedding.add({ space: ADA, session: "s" }, rows);
    const kept = reading(path, 32 * MIB);
    const plain = reading(path, 0);
    kept.searchWords(asked(["river"]));
    for (let at = 0; kept.rosterBytes() === undefined; at++) {
      await turn(); // a page
      await embedding.unit({ op: "update", space: ADA, id: "i1", patch: { content: `river ${at}`, parts: null } });
      await embedding.forget({ space: ADA, ids: [`i${at * 12 + 13}`] });
      await embedding.add({ space: ADA, session: "s" }, [{ id: `new${at}`, content: "river anew" }]);
      expect(kept.searchWords(asked(["river"], { limit: 500 }))).toEqual(
        plain.searchWords(asked(["river"], { limit: 500 })),
      );
    }
  });

  it("are loaded anew when more has changed than is worth taking over, or what was removed is not known any more", async () => {
    const path = newPath();
    const embedding = await Embedding.open(path, 4);
    const lane = { space: ADA, session: "s" };
    const many = (count: number, name: string) =>
      Array.from({ length: count }, (_, at) => ({ id: `${name}${at}`, content: `river ${at % 7}` }));
    await embedding.add(lane, many(100, "a"));
    const kept = reading(path, 32 * MIB);
    const small = await load(kept);
    for (let at = 0; at < 5; at++) await embedding.add(lane, many(500, `b${at}-`));
    expect(kept.searchWords(asked(["river"], { limit: 5_000 }))).toHaveLength(2_600);
    expect(await load(kept)).toBeGreaterThan(20 * small);
    await embedding.forget({ space: ADA, ids: ["a1", "a2"] });
    alter(path, "DELETE FROM tombstone; UPDATE head SET tombstone_floor = commit_no");
    expect(kept.searchWords(asked(["river"], { limit: 5_000 }))).toHaveLength(2_598);
    expect(await load(kept)).toBeGreaterThan(20 * small);
  });

  it("take no more than they may: the space that was asked least recently goes, one that is too large has none", async () => {
    const path = newPath();
    const embedding = await Embedding.open(path, 4);
    const spaces = ["ada", "bob", "eve"].map((user) => ({ user }));
    for (const space of spaces) {
      const rows = Array.from({ length: 100 }, (_, at) => ({ id: `i${at}`, content: `river ${at}` }));
      await embedding.add({ space, session: "s" }, rows);
    }
    const one = await load(reading(path, 32 * MIB));
    const two = reading(path, Math.floor(one * 2.5));
    for (const space of spaces) await load(two, asked(["river"], { spaces: [space] }));
    expect(two.rosterBytes()).toBe(2 * one);
    // Who does not fit has to ask eight times.
    for (let times = 2; times <= 7; times++) await load(two, asked(["river"], { spaces: [{ user: "eve" }] }));
    await embedding.forget({ space: { user: "eve" }, ids: ["i0"] });
    two.sweep();
    expect(two.rosterBytes(), "eve's is not there").toBe(2 * one);
    await load(two, asked(["river"], { spaces: [{ user: "eve" }] }));
    const after = Number(two.rosterBytes());
    expect(after, "eve's is there, and one item less").toBeLessThan(2 * one);
    await embedding.forget({ space: ADA, ids: ["i1"] });
    two.sweep();
    expect(two.rosterBytes(), "ada's was the first to go").toBe(after);
    await embedding.forget({ space: { user: "eve" }, ids: ["i1"] });
    two.sweep();
    expect(two.rosterBytes(), "what is forgotten is let go of at once").toBeLessThan(after);
    expect(await load(reading(path, one / 2))).toBe(0);
  });

  it("of a space that turns out to be too large are not begun again with every search", async () => {
    const path = newPath();
    const embedding = await Embedding.open(path, 4);
    const rows = Array.from({ length: 100 }, (_, at) => ({ id: `${"long".repeat(60)}${at}`, content: `river ${at}` }));
    await embedding.add({ space: ADA, session: "s" }, rows);
    const kept = reading(path, 36_000); // for about a hundred items with ids of a usual length
    expect(await load(kept)).toBe(0);
    kept.searchWords(asked(["river"]));
    expect(kept.rosterBytes(), "nothing is being loaded").toBe(0);
    await embedding.forget({ space: ADA, ids: rows.slice(0, 30).map(({ id }) => id) });
    expect(await load(kept), "it has become smaller").toBeGreaterThan(0);
  });

  it.each([
    ["removed in its space", 3_000, ADA],
    ["written in others", 10_000, BOB],
  ] as const)("is loaded anew when very much was %s", async (_, count, space) => {
    const path = newPath();
    const embedding = await Embedding.open(path, 4);
    const row = (at: number) => ({ id: `i${at}`, content: "ocean" });
    const many = async (from: number, to: number) => {
      for (let at = from; at < to; at += 1_000) {
        const rows = Array.from({ length: 1_000 }, (_, more) => row(at + more));
        await embedding.add({ space, session: "s" }, rows);
      }
    };
    await embedding.add(
      { space: ADA, session: "r" },
      Array.from({ length: 70 }, (_, at) => ({ ...row(at), id: `r${at}`, content: "river" })),
    );
    if (space === ADA) await many(0, count);
    const kept = reading(path, 32 * MIB);
    expect(await load(kept)).toBeGreaterThan(0);
    if (space === ADA) await embedding.forget({ space: ADA, session: "s", entry: false });
    else await many(0, count);
    kept.sweep();
    expect(kept.rosterBytes()).toBe(0);
    expect(kept.searchWords(asked(["river"], { limit: 100 }))).toHaveLength(70);
    expect(kept.searchWords(asked(["ocean"]))).toHaveLength(0);
    expect(await load(kept)).toBeGreaterThan(0);
  });

  it("are not made of spaces so small that the file is as fast", async () => {
    const path = newPath();
    const embedding = await Embedding.open(path, 4);
    await embedding.add({ space: ADA }, [{ id: "one", content: "river" }]);
    expect(await load(reading(path, 32 * MIB))).toBe(0);
  });
});
