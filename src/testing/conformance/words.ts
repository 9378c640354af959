/** Word search: exact BM25 from the item's own space, best first, ties newest first. */
import { expect } from "vitest";
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

  check("gives the best as many as asked for", async (probe) => {
    await addNotes(probe);
    const all = await probe.found(ADA, "lamp rope house");
    expect(all.length).toBeGreaterThan(4);
    for (const limit of [1, 2, 4]) {
      expect(await probe.found(ADA, "lamp rope house", { limit })).toEqual(all.slice(0, limit));
    }
  });

  check("puts the newest first among equals, by arrival and not by time", async (probe) => {
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

  check("lets a filter narrow the hits and leave their scores", async (probe) => {
    await addNotes(probe);
    const all = await probe.search(ADA, "lamp rope");
    const narrow = await probe.search(ADA, "lamp rope", { filter: { sessions: ["odd"] } });
    expect(narrow.length).toBeGreaterThan(0);
    expect(narrow.length).toBeLessThan(all.length);
    for (const hit of narrow) expect(all).toContainEqual(hit);
  });

  check("counts stored items for its statistics, also those that have expired", async (probe) => {
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

  check("finds stop words, and does not count them for the length of a text", async (probe) => {
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

  check("finds nothing for no terms, unknown terms, or terms that only another space has", async (probe) => {
    await addNotes(probe);
    await probe.add(BOB, ["zeppelin"]);
    expect(await probe.search(ADA, "")).toEqual([]);
    expect(await probe.search(ADA, "unheard")).toEqual([]);
    expect(await probe.search(ADA, "zeppelin")).toEqual([]);
    const [known] = await probe.search(ADA, "lamp unheard zeppelin");
    expect(known).toEqual((await probe.search(ADA, "lamp"))[0]);
  });

  check("takes a term for a term, whatever query language it looks like", async (probe) => {
    await addNotes(probe);
    // Marks that terms may contain, and words that query languages reserve; none of them is in the notes.
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
      expect(await probe.store.searchWords(request), term).toEqual([]);
      const both = await probe.store.searchWords({ ...request, terms: [term, ...probe.terms("lamp")] });
      expect(both, term).toEqual(await probe.search(ADA, "lamp"));
    }
    await probe.add(BOB, [{ id: "x", content: "OR not near C++ node.js a:b c-d #tag @ann" }]);
    for (const query of ["or", "NOT", "near", "c++", "node.js", "a:b", "c-d", "#tag", "@ann", "or not near"]) {
      expect(await probe.found(BOB, query), query).toEqual(["x"]);
    }
  });

  check("takes many terms", async (probe) => {
    await addNotes(probe);
    const query = [...Array.from({ length: 500 }, (_, at) => `word${at}`), "lamp", "rope"].join(" ");
    await expectExact(probe, ADA, query);
    expect(await probe.found(ADA, query)).toHaveLength(NOTES.length);
  });

  check("finds the best of many like it", async (probe) => {
    const many = Array.from({ length: 600 }, (_, at) => `lamp lamp ${at}`);
    await probe.add(ADA, many.slice(0, 100));
    await probe.add(ADA, [{ id: "best", content: Array(40).fill("lamp").join(" ") }]);
    await probe.add(ADA, many.slice(100));
    expect(await probe.found(ADA, "lamp", { limit: 1 })).toEqual(["best"]);
    await expectExact(probe, ADA, "lamp 599");
  });
}

async function addNotes(probe: Probe): Promise<void> {
  for (const [at, content] of NOTES.entries()) {
    await probe.add(ADA, [{ id: `n${at}`, content }], { session: at % 2 === 0 ? "even" : "odd" });
  }
}
