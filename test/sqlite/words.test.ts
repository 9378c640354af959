/** Search by words: what is found, and that no other space's text changes a score. */
import { searchWords } from "holdfast/testing";
import { describe, expect, it } from "vitest";
import { alter, newPath, open } from "../support/opened.js";
import { openRaw } from "../support/raw.js";
import { Embedding, NOW, newRow } from "./embedding.js";

/** Scores of words alone: no embedder takes part. */
const BY_WORDS = { buffer: { hybridBuffer: { embeddingModel: "none" } } };

const TOPICS = "garden river kernel piano bakery ocean lantern teapot violin harbour mountain sandwich".split(" ");
const text = (at: number): string =>
  `${TOPICS[at % 12]} and ${TOPICS[(at * 5 + 3) % 12]} were what we talked about on day ${at}${" again".repeat(at % 7)}`;

describe("words", () => {
  it("of many commits are brought together by housekeeping, a slice at a time, and are found as before", async () => {
    const path = newPath();
    const embedding = await Embedding.open(path, 4);
    const { store } = embedding;
    const lane = { space: { user: "ada" }, session: "s" };
    const all = Array.from({ length: 1_200 }, (_, at) => ({ id: `m${at}`, content: text(at) }));
    for (let at = 0; at < all.length; at += 4) await embedding.add(lane, all.slice(at, at + 4));
    const segments = () => {
      const raw = openRaw(path);
      const rows = raw.prepare("SELECT DISTINCT segid FROM words_idx").all();
      raw.close();
      return rows.length;
    };
    const search = (terms: readonly string[]) =>
      searchWords(store, { spaces: [lane.space], terms, filter: {}, limit: 5_000, now: NOW });
    const ask = async () => [await search(["piano"]), await search(["day", "17", "bakeri"]), await search(["again"])];
    const before = await ask();
    expect(before.map((hits) => hits.length > 10)).toEqual([true, true, true]);
    expect(segments()).toBeGreaterThan(4);

    const stopped = AbortSignal.abort();
    await store.maintain(NOW, stopped);
    expect(segments(), "whoever ends does not begin").toBeGreaterThan(4);
    await store.maintain(NOW);
    expect(segments()).toBe(1);
    expect(await ask()).toEqual(before);

    await embedding.add(lane, [{ id: "new", content: "a piano" }]);
    await store.maintain(NOW);
    expect(segments(), "a little more is left as it is").toBe(2);
    expect((await search(["piano"])).map(({ id }) => id)).toContain("new");
  });

  it("of another user change no score and no order", async () => {
    const memory = await open({ path: newPath(), ...BY_WORDS });
    const ada = memory.session({ user: "ada", session: "s" });
    await ada.add(Array.from({ length: 200 }, (_, at) => ({ role: "user" as const, content: text(at) })));
    const questions = [
      "river",
      "the piano in the garden",
      "what about day 17 and the bakery",
      "again",
      "violin harbour",
    ];
    const ask = async () => {
      const answers = [];
      for (const question of questions) {
        const hits = await ada.query(question, { topK: 50 });
        answers.push(hits.map(({ id, score }) => [id, score]));
      }
      return answers;
    };
    const before = await ask();
    expect(before.every((hits) => hits.length > 0)).toBe(true);
    const bob = memory.session({ user: "bob", session: "s" });
    await bob.addBatch(Array.from({ length: 10_000 }, (_, at) => [{ role: "user" as const, content: text(at * 3) }]));
    expect(await ask()).toEqual(before);
    await memory.forget({ user: "bob" });
    expect(await ask()).toEqual(before);
  });

  it.each([
    ["accents and case", "Der CAFÉ in Zürich schließt früh", "cafe zurich"],
    ["an inflected word", "She was baking pies for the neighbours", "bakes a pie"],
    ["an irregular verb", "We went to the opera", "go opera"],
    ["part of an identifier", "Call getUserName() first", "user name"],
    ["the whole identifier", "Call getUserName() first", "getUserName"],
    ["an e-mail address", "Write to ada@example.com", "ada@example.com"],
    ["Chinese", "我昨天在里斯本买了一本书", "里斯本"],
    ["Japanese", "昨日、東京で寿司を食べました", "東京"],
    ["Korean", "어제 서울에서 친구를 만났어요", "서울"],
    ["Thai", "เมื่อวานฉันไปกรุงเทพกับเพื่อน", "กรุงเทพ"],
    ["Arabic with marks", "كَتَبَ الوَلَدُ الدَّرسَ", "كتب الدرس"],
    ["Hebrew", "הילד הלך לבית הספר", "הספר"],
    ["Russian", "Вчера я был в Москве", "москве"],
    ["an emoji", "My cat loves the balcony 🐈", "🐈"],
    ["a name", "hello there", "Grace"],
  ])("find %s", async (_, content, question) => {
    const memory = await open({ path: newPath(), ...BY_WORDS });
    const session = memory.session({ user: "ada", session: "s" });
    await session.add([{ role: "user", name: "Grace", content }]);
    const elsewhere = memory.session({ user: "ada", session: "t" });
    await elsewhere.add([{ role: "user", content: "nothing of the kind, 完全に別の話" }]);
    expect((await session.query(question)).map((hit) => hit.content)).toEqual([content]);
  });

  it("that are very common rank what others have found, but are searched alone when nothing else is there", async () => {
    const memory = await open({ path: newPath(), ...BY_WORDS });
    const session = memory.session({ user: "ada", session: "s" });
    const rounds = Array.from({ length: 9_000 }, (_, at) => [
      { role: "user" as const, content: at === 4_321 ? "the common quokka" : `the common talk ${at}` },
    ]);
    await session.addBatch(rounds);
    const [best, ...around] = await session.query("the common quokka", { topK: 50 });
    expect(best?.content).toBe("the common quokka");
    expect(around.map(({ content }) => Number(content.split(" ")[3])).toSorted((a, b) => a - b)).toEqual([
      4_317, 4_318, 4_319, 4_320, 4_322, 4_323, 4_324, 4_325,
    ]);
    expect(await session.query("the common", { topK: 5 })).toHaveLength(5);
    // Narrowed to items that the newest postings do not reach.
    const early = await session.query("common", { topK: 5, to: Date.now() + 1, kind: "message" });
    expect(early).toHaveLength(5);
  });

  it("of an edit that keeps some of its words take no word from what is added with it", async () => {
    const embedding = await Embedding.open(newPath(), 4);
    const lane = { space: { user: "ada" } };
    await embedding.add(lane, [{ id: "edited", content: "piano ann" }]);
    const patch = { content: "piano sea", parts: null };
    await embedding.unit(
      { op: "update", space: lane.space, id: "edited", patch },
      { op: "add", space: lane.space, items: [newRow({ id: "added", content: "piano" })], existing: "same" },
    );
    const found = async (term: string) => {
      const request = { spaces: [lane.space], terms: [term], filter: {}, limit: 10, now: NOW };
      return (await searchWords(embedding.store, request)).map(({ id }) => id).sort();
    };
    expect(await found("piano")).toEqual(["added", "edited"]);
    expect([await found("sea"), await found("ann")]).toEqual([["edited"], []]);
  });

  it("are indexed again when the analysis has another version, in one step", async () => {
    const path = newPath();
    const memory = await open({ path, ...BY_WORDS });
    const session = memory.session({ user: "ada", session: "s" });
    await session.add(Array.from({ length: 30 }, (_, at) => ({ role: "user" as const, content: text(at) })));
    const before = await session.query("piano garden", { topK: 20 });
    await memory.close();
    alter(
      path,
      `UPDATE head SET analysis = 0; UPDATE item SET words = 'outdated', length = 1; UPDATE space SET terms = 30;
       INSERT INTO words (words) VALUES ('delete-all')`,
    );
    const again = await open({ path, ...BY_WORDS });
    expect(await again.session({ user: "ada", session: "s" }).query("piano garden", { topK: 20 })).toEqual(before);
    expect(await again.session({ user: "ada", session: "s" }).query("outdated")).toHaveLength(0);
    const raw = openRaw(path);
    expect(raw.prepare("SELECT analysis > 0 AS current FROM head").get()).toEqual({ current: 1 });
    raw.close();
  });

  it("of a process with another analysis are refused while it runs", async () => {
    const path = newPath();
    const memory = await open({ path, ...BY_WORDS });
    alter(path, "UPDATE head SET analysis = 999");
    await expect(memory.session({ user: "ada" }).add([{ role: "user", content: "x" }])).rejects.toMatchObject({
      code: "store_newer",
      hint: expect.stringContaining("same version"),
    });
  });
});
