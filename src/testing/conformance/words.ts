/** Word search: exact BM25 from the item's own space, best first, ties newest first. */
import { expect } from "vitest";
import { RARE_MAX } from "../../retrieval/words/exact.js";
import type { RowFilter } from "../../stores/store.js";
import { searchExact, searchWords } from "../arms.js";
import { bruteForceScores } from "../brute-force.js";
import type { Check } from "./check.js";
import { expectExact } from "./exact.js";
import { ADA, BOB, type Probe, SECOND } from "./probe.js";

const NOTES = [
  "The lamp stands by the window of the old house.",
  "A lamp, a rope and another lamp: lamp after lamp.",
  "She bought a rope in Lisbon.",
  "Nothing to see here.",
  "",
  "The window looks over the sea; the sea looks back at the window, and the lamp burns.",
  "Rope.",
  "An old house in Lisbon with a view of the sea, a garden, a well, a gate and a very long description of all that.",
];

export function words(check: Check): void {
  check("scores by BM25 with the space's own count of items, of containing items and of terms", async (probe) => {
    await addNotes(probe);
    for (const query of ["lamp", "rope", "lamp rope", "old house sea", "window lisbon lamp rope sea house"]) {
      await expectExact(probe, ADA, query);
    }
  });

  check("breaks ties by the newest, by arrival and not by time", async (probe) => {
    await probe.add(ADA, [
      { id: "a", content: "lamp", occurredAt: 300 },
      { id: "b", content: "lamp", occurredAt: 100 },
    ]);
    await probe.add(ADA, [{ id: "c", content: "lamp", occurredAt: 200 }]);
    expect(await probe.found(ADA, "lamp")).toEqual(["c", "b", "a"]);
    await probe.update(ADA, "a", { occurredAt: 900 });
    expect(await probe.found(ADA, "lamp"), "an edit is no arrival").toEqual(["c", "b", "a"]);
    expect(await probe.found(ADA, "lamp", { limit: 2 })).toEqual(["c", "b"]);
  });

  check("finds an item by its name as well as by its content", async (probe) => {
    await probe.add(ADA, [
      { id: "x", name: "Beatrice", content: "I like lamps." },
      { id: "y", content: "Beatrice likes ropes." },
      { id: "z", content: "Nobody." },
    ]);
    expect((await probe.found(ADA, "beatrice")).toSorted()).toEqual(["x", "y"]);
    const documents = await probe.list(ADA);
    const expected = bruteForceScores(documents, probe.terms("beatrice"));
    for (const { id, score } of await probe.search(ADA, "beatrice")) {
      expect(score).toBeCloseTo(expected.get(id) as number, 9);
    }
  });

  check("lets a filter narrow the hits without changing their scores", async (probe) => {
    await addNotes(probe);
    const all = await probe.search(ADA, "lamp rope");
    const narrow = await probe.search(ADA, "lamp rope", { filter: { sessions: ["odd"] } });
    expect(narrow.length).toBeGreaterThan(0);
    expect(narrow.length).toBeLessThan(all.length);
    for (const hit of narrow) expect(all).toContainEqual(hit);
  });

  check("counts stored items in its statistics, even expired ones", async (probe) => {
    await addNotes(probe);
    await probe.add(ADA, [{ id: "brief", content: "a lamp in the sea", expiresAt: probe.now + SECOND }]);
    const before = await probe.search(ADA, "lamp sea");
    probe.now += SECOND;
    const after = await probe.search(ADA, "lamp sea");
    expect(after).toEqual(before.filter(({ id }) => id !== "brief"));
    await probe.forget({ expired: true });
    await expectExact(probe, ADA, "lamp sea");
  });

  check("scores each space's items by that space alone when it searches several", async (probe) => {
    await addNotes(probe);
    await probe.add(BOB, ["lamp lamp lamp", "a lamp in Bob's house", "rope and sea"]);
    const [hers, his] = [await probe.search(ADA, "lamp house"), await probe.search(BOB, "lamp house")];
    const both = await probe.search([ADA, BOB], "lamp house");
    expect(both).toHaveLength(hers.length + his.length);
    for (const hit of [...hers, ...his]) expect(both).toContainEqual(hit);
    expect(both.map(({ score }) => score)).toEqual(both.map(({ score }) => score).toSorted((a, b) => b - a));
  });

  check("stays exact through edits, replacements and forgets", async (probe) => {
    await addNotes(probe);
    await probe.update(ADA, "n1", { content: "one rope", parts: null });
    await probe.update(ADA, "n0", { name: "Lamp" });
    await probe.add(ADA, [{ id: "n2", content: "lamp lamp sea" }], { session: "even", existing: "replace" });
    await probe.forget({ space: ADA, ids: ["n5"] });
    await probe.add(ADA, ["another lamp by the sea"]);
    for (const query of ["lamp", "rope sea", "lisbon house lamp"]) await expectExact(probe, ADA, query);
  });

  check("finds stop words, and does not count them towards the length of a text", async (probe) => {
    await probe.add(ADA, [
      { id: "short", content: "lamp" },
      { id: "padded", content: "it is the lamp that you have" },
      { id: "longer", content: "lamp rope" },
      { id: "empty", content: "what is it, and who are you" },
    ]);
    const [first, second, third] = await probe.search(ADA, "lamp");
    expect([first?.id, second?.id, third?.id]).toEqual(["padded", "short", "longer"]);
    expect(first?.score).toBe(second?.score);
    expect(await probe.found(ADA, "who")).toEqual(["empty"]);
    for (const query of ["lamp", "who is it", "what rope is it"]) await expectExact(probe, ADA, query);
    await probe.add(BOB, [{ id: "his", content: "is it you" }], { session: "s" });
    await probe.add(BOB, [{ id: "next", content: "" }], { session: "s" });
    expect(await probe.found(BOB, "you"), "also where all lengths are 0").toEqual(["his", "next"]);
    await expectExact(probe, BOB, "you");
  });

  check("looks up identifiers: only items that contain one, the strictest form first", async (probe) => {
    await probe.add(ADA, [{ id: "both", content: "lamp and rope, rope after rope" }], { session: "s" });
    await probe.add(ADA, [{ id: "next", content: "its neighbour" }], { session: "s" });
    await probe.add(ADA, [
      { id: "rope", content: "a rope" },
      { id: "written", content: "Call +49 (0)171 / 234-5678, please." },
      { id: "brief", content: "rope", expiresAt: probe.now + SECOND },
    ]);
    await probe.add(BOB, ["lamp and rope"]);
    const lookUp = async (terms: readonly string[], filter: RowFilter = {}) => {
      const lookups = terms.map((term, at) => ({ term, start: at, end: at, isPart: false }));
      const found = await searchExact(probe.store, { spaces: [ADA], lookups, filter, limit: 10, now: probe.now });
      return found.map(({ id, exact }) => [id, exact]);
    };
    const one = Number((await lookUp(["lamp"]))[0]?.[1]);
    expect(one).toBeGreaterThan(0);
    expect(await lookUp(["lamp", "#nothing", "rope"]), "both count").toEqual([
      ["both", 2 * one],
      ["brief", one],
      ["rope", one],
    ]);
    expect(await lookUp(["lamp", "rope"], { sessions: ["s"] })).toEqual([["both", 2 * one]]);
    expect(await lookUp(["#491712345678"])).toEqual([["written", one]]);
    probe.now += SECOND;
    expect(await lookUp(["rope"])).toEqual([
      ["rope", one],
      ["both", one],
    ]);
    await probe.update(ADA, "written", { content: "Call +49 171 2345679." });
    expect(await lookUp(["#491712345678", "#491712345679"])).toEqual([["written", one]]);
    await probe.add(ADA, new Array<string>(RARE_MAX).fill("rope"));
    expect(await lookUp(["lamp", "rope"]), "a term that is not rare finds nothing").toEqual([["both", one]]);
  });

  check("finds nothing for no terms, unknown terms, or terms that only another space has", async (probe) => {
    await addNotes(probe);
    await probe.add(BOB, ["zeppelin"]);
    expect(await probe.search(ADA, "")).toEqual([]);
    expect(await probe.search(ADA, "unheard")).toEqual([]);
    expect(await probe.search(ADA, "zeppelin")).toEqual([]);
    const [known] = await probe.search(ADA, "lamp unheard zeppelin");
    expect(known).toEqual((await probe.search(ADA, "lamp"))[0]);
  });

  check("treats a term as a term, whatever query syntax it looks like", async (probe) => {
    await addNotes(probe);
    // Punctuation that terms may contain, and words that query languages reserve; none of them is in the notes.
    const marked = [
      "-lamp",
      "+lamp",
      "lamp-",
      "~lamp",
      "terms:lamp",
      "words:lamp",
      "lamp/rope",
      "_",
      "&",
      "#",
      "@",
      ".",
      "--",
    ];
    for (const term of [...marked, "or", "not", "near", "near/2", "match", "null", "rowid"]) {
      const request = { spaces: [ADA], terms: [term], filter: {}, limit: 10, now: probe.now };
      expect(await searchWords(probe.store, request), term).toEqual([]);
      const both = await searchWords(probe.store, { ...request, terms: [term, ...probe.terms("lamp")] });
      expect(both, term).toEqual(await probe.search(ADA, "lamp"));
    }
    await probe.add(BOB, [{ id: "x", content: "OR not near C++ node.js a:b c-d #tag @ann" }]);
    for (const query of ["or", "NOT", "near", "c++", "node.js", "a:b", "c-d", "#tag", "@ann", "or not near"]) {
      expect(await probe.found(BOB, query), query).toEqual(["x"]);
    }
  });

  check("accepts many terms", async (probe) => {
    await addNotes(probe);
    const query = [...Array.from({ length: 500 }, (_, at) => `word${at}`), "lamp", "rope"].join(" ");
    await expectExact(probe, ADA, query);
    expect(await probe.found(ADA, query)).toHaveLength(NOTES.length);
  });

  check("finds the best of many similar items", async (probe) => {
    const many = Array.from({ length: 600 }, (_, at) => `lamp lamp ${at}`);
    await probe.add(ADA, many.slice(0, 100));
    await probe.add(ADA, [{ id: "best", content: Array(40).fill("lamp").join(" ") }]);
    await probe.add(ADA, many.slice(100));
    const hints = { refersBack: false, dates: [], recency: 0, askedAt: probe.now };
    const request = { spaces: [ADA], terms: probe.terms("lamp"), lookups: [], filter: {}, now: probe.now, hints };
    expect((await probe.store.search({ ...request, limit: 1 })).found).toMatchObject([{ id: "best" }]);
    await expectExact(probe, ADA, "lamp 599");
  });
}

async function addNotes(probe: Probe): Promise<void> {
  for (const [at, content] of NOTES.entries()) {
    await probe.add(ADA, [{ id: `n${at}`, content }], { session: at % 2 === 0 ? "even" : "odd" });
  }
}
