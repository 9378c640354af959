/** Entities and relations as items: every text is preserved, and equal names have one id. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseContent } from "../../input/content.js";
import type { Item, Part } from "../../types.js";
import { entityDraft, entityId, entityOf, entityParts, relationDraft, relationOf } from "./graph-item.js";

/** An item as the engine would return it. */
const stored = (parts: readonly Part[]): Item => ({
  ...{ id: "x", kind: "knowledge", space: { user: "ada" }, metadata: {}, tier: "semantic" },
  ...{ occurredAt: 0, recordedAt: 0, updatedAt: 0, version: 1 },
  ...parseContent(parts, "content"),
});

/** Any UTF-16 units, including NUL and lone surrogates. */
const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
  fc.constantFrom("", "\u0000", "\ud800", "\udc00\ud800", "\ufffd", "👩‍👩‍👧", "__proto__", '["\\u0000"]'),
);

describe("an entity as an item", () => {
  it("comes back with every text exactly as it was given", () => {
    const entity = fc.record({ name: anyText, entityType: anyText, observations: fc.array(anyText) });
    fc.assert(fc.property(entity, (one) => void expect(entityOf(stored(entityParts(one)))).toEqual(one)));
  });

  it("is text that can be read and searched", () => {
    const parts = entityParts({ name: "Ada", entityType: "person", observations: ["flies", "likes tea"] });
    expect(stored(parts).content).toBe("[entity: Ada (person)]\nflies\nlikes tea");
    expect(stored(entityParts({ name: "Ada", entityType: "", observations: [] })).content).toBe("[entity: Ada]");
  });

  it("has one id by its name, another for each ordinal, and none that two names share", () => {
    const ada = entityDraft({ name: "Ada", entityType: "person", observations: [] }, 0);
    expect(ada).toMatchObject({ id: entityId("Ada"), first: entityId("Ada") });
    const second = entityDraft({ name: "Ada", entityType: "ship", observations: [] }, 1);
    expect(second.first).toBe(ada.id);
    expect(new Set([ada.id, second.id, ...["ada", "Ada ", "\ud800", "\ud801", "\ufffd"].map(entityId)]).size).toBe(7);
  });

  it("is read as it is after an edit, and is no longer a graph item without its first part", () => {
    const [head, text] = entityParts({ name: "Ada", entityType: "person", observations: ["a\u0000b"] });
    if (!head || !text) throw new Error("no parts");
    expect(entityOf(stored([head, { ...text, text: "edited" }]))?.observations).toEqual(["edited"]);
    for (const exact of ["{", "[1]", '"a"', 7]) {
      expect(entityOf(stored([head, { ...text, exact }]))?.observations).toEqual(["a\ufffdb"]);
    }
    expect(entityOf(stored([text]))).toBeUndefined();
    expect(entityOf(stored([{ ...head, entityType: 7 }]))).toBeUndefined();
    const { parts: _, ...plain } = stored([head]);
    expect(entityOf(plain)).toBeUndefined();
  });
});

describe("a relation as an item", () => {
  it("comes back exactly, with one id by all its texts", () => {
    const relation = fc.record({ from: anyText, to: anyText, relationType: anyText });
    fc.assert(
      fc.property(relation, (one) => void expect(relationOf(stored(relationDraft(one, 0).parts))).toEqual(one)),
    );
    const ids = [
      { from: "a", to: "b", relationType: "c" },
      { from: "b", to: "a", relationType: "c" },
      { from: "a", to: "c", relationType: "b" },
      { from: "a,b", to: "", relationType: "c" },
    ].map((one) => relationDraft(one, 0).id);
    expect(new Set(ids).size).toBe(4);
  });

  it("is a sentence", () => {
    const { parts } = relationDraft({ from: "Ada", to: "Acme", relationType: "works_at" }, 0);
    expect(stored(parts).content).toBe("[relation: Ada works at Acme]");
  });
});
