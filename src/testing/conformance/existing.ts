/** What an add does with an id that is taken: nothing if the payload is equal, a conflict, or the next version. */
import { expect } from "vitest";
import type { NewRow } from "../../stores/store.js";
import type { Check } from "./check.js";
import { ADA, BOB, DAY, SECOND } from "./probe.js";

const FULL: Partial<NewRow> & { readonly id: string } = {
  id: "x",
  role: "user",
  name: "Ann",
  content: "the lamp",
  parts: [{ type: "text", text: "the lamp" }],
  metadata: { color: "red", deep: { n: 1 } },
  tier: "episodic",
};

/** One other value for every field of the payload. */
const OTHER_PAYLOADS: readonly (readonly [string, Partial<NewRow>])[] = [
  ["content", { content: "the lantern" }],
  ["role", { role: "assistant" }],
  ["name", { name: "Anna" }],
  ["kind", { kind: "fact" }],
  ["parts", { parts: [{ type: "text", text: "the lantern" }] }],
  ["metadata", { metadata: { color: "red", deep: { n: 2 } } }],
  ["less metadata", { metadata: { color: "red" } }],
  ["tier", { tier: "semantic" }],
];

export function existing(check: Check): void {
  check("treats an equal item as the same item", async (probe) => {
    await probe.add(ADA, ["before"], { session: "s" });
    const first = await probe.add(ADA, [FULL, { id: "y" }], { session: "s", agent: "tutor" });
    const before = await probe.list(ADA);
    probe.now += SECOND;
    const other = { ...FULL, occurredAt: 1, expiresAt: probe.now + DAY };
    const again = await probe.add(ADA, [other, { id: "y" }], { session: "s", agent: "tutor" });
    expect(again).toEqual({ ...first, repeated: true });
    expect(again.sequences).toEqual([2, 3]);
    expect(await probe.list(ADA), "times of a repeated add are not taken").toEqual(before);
    expect(await probe.add(ADA, ["after"], { session: "s" })).toMatchObject({ sequences: [4] });
  });

  check("treats equal metadata as the same, whatever the order of their keys", async (probe) => {
    await probe.add(ADA, [FULL], { session: "s" });
    const { color, deep } = FULL.metadata as { color: string; deep: { n: number } };
    const again = await probe.add(ADA, [{ ...FULL, metadata: { deep, color } }], { session: "s" });
    expect(again).toMatchObject({ repeated: true });
  });

  check("registers nothing and changes nothing for a repeated add by another agent", async (probe) => {
    await probe.add(ADA, [FULL], { session: "s", agent: "tutor" });
    const number = probe.written;
    expect(await probe.add(ADA, [FULL], { session: "s", agent: "someone else" })).toMatchObject({ repeated: true });
    expect(await probe.item(ADA, "x")).toMatchObject({ agent: "tutor" });
    expect(await probe.names("agent")).toEqual(["tutor"]);
    expect(probe.written).toBe(number);
  });

  check("repeats outside a session as well", async (probe) => {
    await probe.add(ADA, [{ id: "x", kind: "knowledge" }]);
    const again = await probe.add(ADA, [{ id: "x", kind: "knowledge" }]);
    expect(again).toEqual({ op: "add", ids: ["x"], sequences: [], repeated: true });
  });

  for (const [field, change] of OTHER_PAYLOADS) {
    check(`refuses a taken id with other ${field}, and writes nothing of that round`, async (probe) => {
      await probe.add(ADA, [FULL], { session: "s" });
      const before = await probe.list(ADA);
      const round = [{ id: "new" }, { ...FULL, ...change }];
      const error = await probe.fails("conflict", probe.adding(ADA, round, { session: "s" }));
      expect(error.details).toMatchObject({ id: "x" });
      expect(JSON.stringify(error), "errors carry no content").not.toMatch(/lamp|lantern/);
      expect(await probe.list(ADA)).toEqual(before);
    });
  }

  check("refuses a taken id in another session, or in none", async (probe) => {
    await probe.add(ADA, [FULL], { session: "s" });
    for (const options of [{ session: "t" }, {}]) {
      const error = await probe.fails("conflict", probe.adding(ADA, [FULL], options));
      expect(error.details).toMatchObject({ id: "x" });
    }
    expect(await probe.sessionNames(), "the refused add registers no session").toEqual(["s"]);
  });

  check("refuses the first payload once the item was edited", async (probe) => {
    await probe.add(ADA, [FULL], { session: "s" });
    await probe.update(ADA, "x", { content: "the lantern" });
    await probe.fails("conflict", probe.adding(ADA, [FULL], { session: "s" }));
    expect(await probe.item(ADA, "x")).toMatchObject({ content: "the lantern", version: 2 });
  });

  check("adds the new items of a round and keeps the known ones", async (probe) => {
    await probe.add(ADA, [{ id: "a" }, { id: "b" }], { session: "s" });
    const done = await probe.add(ADA, [{ id: "b" }, { id: "c" }, { id: "a" }, { id: "d" }], { session: "s" });
    expect(done).toMatchObject({ ids: ["b", "c", "a", "d"], sequences: [2, 3, 1, 4], repeated: false });
    expect((await probe.list(ADA)).map(({ id, sequence, round, version }) => [id, sequence, round, version])).toEqual([
      ["a", 1, 1, 1],
      ["b", 2, 1, 1],
      ["c", 3, 3, 1],
      ["d", 4, 3, 1],
    ]);
  });

  check("treats an id that occurs twice in one round as one item", async (probe) => {
    const done = await probe.add(ADA, [{ id: "x" }, { id: "y" }, { id: "x" }], { session: "s" });
    expect(done).toMatchObject({ ids: ["x", "y", "x"], sequences: [1, 2, 1], repeated: false });
    await probe.fails("conflict", probe.adding(ADA, [{ id: "z" }, { id: "z", content: "other" }]));
    expect(await probe.ids(ADA)).toEqual(["x", "y"]);
  });

  check("distinguishes equal ids of different spaces", async (probe) => {
    await probe.add(ADA, [{ id: "x", content: "hers" }]);
    expect(await probe.add(BOB, [{ id: "x", content: "his" }])).toMatchObject({ repeated: false });
    await probe.add(BOB, [{ id: "x", content: "his too" }], { existing: "replace" });
    expect(await probe.contents(ADA)).toEqual(["hers"]);
    expect(await probe.contents(BOB)).toEqual(["his too"]);
  });

  check("replaces an item by its next version in its place", async (probe) => {
    await probe.add(ADA, [{ ...FULL, expiresAt: probe.now + DAY }, { id: "y" }], { session: "s", agent: "tutor" });
    const before = await probe.item(ADA, "x");
    probe.now += SECOND;
    const change = { id: "x", kind: "fact", content: "a candle", metadata: { n: 2 }, tier: "working" } as const;
    const options = { session: "s", agent: "coach", existing: "replace" } as const;
    const done = await probe.add(ADA, [change, { id: "z" }], options);
    expect(done).toMatchObject({ ids: ["x", "z"], sequences: [1, 3], repeated: false });
    const { sessionId } = before;
    expect(await probe.get(ADA, "x"), "what the new version does not say is gone").toStrictEqual([
      {
        ...change,
        role: "user",
        occurredAt: probe.now,
        space: ADA,
        session: "s",
        sessionId,
        agent: "coach",
        sequence: 1,
        round: 1,
        recordedAt: before.recordedAt,
        updatedAt: probe.now,
        version: 2,
      },
    ]);
    expect(await probe.ids(ADA)).toEqual(["x", "y", "z"]);
    expect(await probe.found(ADA, "lamp Ann")).toEqual([]);
    expect((await probe.found(ADA, "candle"))[0]).toBe("x");
  });

  check("refuses to replace an item from another session: its sequence belongs to its own", async (probe) => {
    await probe.add(ADA, [{ id: "x" }], { session: "s" });
    for (const options of [{ session: "t" }, {}]) {
      const write = probe.adding(ADA, [{ id: "x", content: "moved" }], { ...options, existing: "replace" });
      expect((await probe.fails("conflict", write)).details).toMatchObject({ id: "x" });
    }
    expect(await probe.item(ADA, "x")).toMatchObject({ content: "x", version: 1 });
  });

  check("adds an item if there is none to replace", async (probe) => {
    const done = await probe.add(ADA, [{ id: "x" }], { session: "s", existing: "replace" });
    expect(done).toMatchObject({ sequences: [1], repeated: false });
    expect(await probe.item(ADA, "x")).toMatchObject({ version: 1 });
  });

  for (const mode of ["same", "replace"] as const) {
    check(`treats the id of an item that has expired as free (${mode})`, async (probe) => {
      await probe.add(ADA, [{ id: "x", content: "old lamp", expiresAt: probe.now + SECOND }], { session: "s" });
      probe.now += SECOND;
      const done = await probe.add(ADA, [{ id: "x", content: "new lamp" }], { session: "s", existing: mode });
      expect(done).toMatchObject({ sequences: [2], repeated: false });
      expect(await probe.item(ADA, "x")).toMatchObject({ content: "new lamp", version: 1, recordedAt: probe.now });
      expect(await probe.found(ADA, "old")).toEqual([]);
      expect(await probe.store.stats()).toMatchObject({ items: 1 });
    });
  }
}
