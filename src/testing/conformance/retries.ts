/** Idempotency keys: a retried add gives the first answer and writes nothing, for seven days. */
import { expect } from "vitest";
import type { ForgetWrite } from "../../stores/store.js";
import type { Check } from "./check.js";
import { ADA, BOB, DAY, SECOND } from "./probe.js";

const KEYED = { session: "s", idempotency: { key: "k", hash: "h" } } as const;
const OTHER_HASH = { session: "s", idempotency: { key: "k", hash: "other" } } as const;

export function retries(check: Check): void {
  check("gives the first answer again for the same key and hash", async (probe) => {
    const first = await probe.add(ADA, ["one", "two"], KEYED);
    await probe.add(ADA, ["between"], { session: "s" });
    const number = await probe.commitNumber();
    const again = await probe.add(ADA, ["one", "two"], KEYED);
    expect(again).toEqual({ ...first, repeated: true });
    expect(await probe.list(ADA)).toHaveLength(3);
    expect(await probe.commitNumber()).toBe(number);
  });

  check("gives the first answer also after an edit, and outside a session", async (probe) => {
    const first = await probe.add(ADA, [{ id: "x" }], { idempotency: { key: "k", hash: "h" } });
    await probe.update(ADA, "x", { content: "edited" });
    const again = await probe.add(ADA, ["anything"], { idempotency: { key: "k", hash: "h" } });
    expect(again).toEqual({ ...first, repeated: true });
    expect(await probe.contents(ADA)).toEqual(["edited"]);
  });

  check("refuses the key with another hash", async (probe) => {
    await probe.add(ADA, ["one"], KEYED);
    await probe.fails("conflict", probe.adding(ADA, ["other"], OTHER_HASH));
    expect(await probe.contents(ADA)).toEqual(["one"]);
  });

  check("knows keys by space and session", async (probe) => {
    await probe.add(ADA, ["one"], KEYED);
    const hash = { key: "k", hash: "other" };
    expect(await probe.add(ADA, ["two"], { session: "t", idempotency: hash })).toMatchObject({ repeated: false });
    expect(await probe.add(ADA, ["three"], { idempotency: hash })).toMatchObject({ repeated: false });
    expect(await probe.add(BOB, ["four"], { session: "s", idempotency: hash })).toMatchObject({ repeated: false });
    expect(await probe.add(ADA, ["five"], { session: "s", idempotency: { key: "K", hash: "h" } })).toMatchObject({
      repeated: false,
    });
    expect(await probe.contents(ADA)).toEqual(["one", "two", "three", "five"]);
  });

  check("takes the second of two equal units in one commit for a retry", async (probe) => {
    const { outcomes } = await probe.commit([probe.adding(ADA, ["one"], KEYED)], [probe.adding(ADA, ["one"], KEYED)]);
    expect(outcomes).toMatchObject([{ done: [{ repeated: false }] }, { done: [{ repeated: true, sequences: [1] }] }]);
    expect(await probe.list(ADA)).toHaveLength(1);
  });

  check("keeps a key for seven days and no longer", async (probe) => {
    await probe.add(ADA, ["one"], KEYED);
    probe.now += 7 * DAY - 1;
    expect(await probe.add(ADA, ["one"], KEYED)).toMatchObject({ repeated: true });
    await probe.fails("conflict", probe.adding(ADA, ["other"], OTHER_HASH));
    probe.now += 1;
    expect(await probe.add(ADA, ["other"], OTHER_HASH)).toMatchObject({ repeated: false, sequences: [2] });
    probe.now += 7 * DAY - 1;
    expect(await probe.add(ADA, ["other"], OTHER_HASH), "from then on counted anew").toMatchObject({ repeated: true });
  });

  check("keeps a key while the clock runs backwards", async (probe) => {
    await probe.add(ADA, ["one"], KEYED);
    probe.now -= DAY;
    expect(await probe.add(ADA, ["one"], KEYED)).toMatchObject({ repeated: true });
  });

  check("does not keep the key of a unit that failed", async (probe) => {
    await probe.add(ADA, [{ id: "x", content: "taken" }], { session: "s" });
    await probe.fails("conflict", probe.adding(ADA, [{ id: "x", content: "other" }], KEYED));
    expect(await probe.add(ADA, ["new"], OTHER_HASH)).toMatchObject({ repeated: false });
  });

  check("keeps the key of a round that was known already by its ids", async (probe) => {
    await probe.add(ADA, [{ id: "x" }], { session: "s" });
    expect(await probe.add(ADA, [{ id: "x" }], KEYED)).toMatchObject({ repeated: true });
    await probe.fails("conflict", probe.adding(ADA, ["other"], OTHER_HASH));
    await probe.forget({ space: ADA, ids: ["x"] });
    expect(await probe.add(ADA, [{ id: "x" }], KEYED), "the retry does not bring it back").toMatchObject({
      repeated: true,
    });
    expect(await probe.list(ADA)).toEqual([]);
  });

  check("keeps a session's keys when the session or its space is renamed", async (probe) => {
    await probe.add(ADA, ["one"], KEYED);
    await probe.amend({ kind: "session", name: "s", space: ADA }, { name: "t" });
    await probe.amend({ kind: "user", name: "ada" }, { name: "lovelace" });
    const lovelace = { user: "lovelace" };
    const retry = { session: "t", idempotency: { key: "k", hash: "h" } };
    expect(await probe.add(lovelace, ["one"], retry)).toMatchObject({ repeated: true });
    expect(await probe.add(ADA, ["new"], OTHER_HASH), "the old names are free").toMatchObject({ repeated: false });
  });

  const forgets: readonly (readonly [string, ForgetWrite["target"]])[] = [
    ["by its id", { space: ADA, ids: ["y"] }],
    ["with its session's items", { space: ADA, session: "s", entry: false }],
    ["with its space's items", { space: ADA, entry: false }],
    ["because it has expired", { expired: true }],
  ];
  for (const [how, target] of forgets) {
    check(`gives the first answer to any retry once an item of the round is forgotten ${how}`, async (probe) => {
      const first = await probe.add(ADA, [{ id: "x" }, { id: "y", expiresAt: probe.now + SECOND }], KEYED);
      probe.now += SECOND;
      await probe.forget(target);
      const left = await probe.ids(ADA);
      expect(left).not.toContain("y");
      for (const options of [KEYED, OTHER_HASH]) {
        expect(await probe.add(ADA, ["whatever"], options)).toEqual({ ...first, repeated: true });
      }
      expect(await probe.ids(ADA), "nothing comes back").toEqual(left);
    });
  }

  check("forgets the hash also when the forgotten item was in an earlier round as well", async (probe) => {
    await probe.add(ADA, [{ id: "x" }], { session: "s" });
    const first = await probe.add(ADA, [{ id: "x" }, { id: "y" }], KEYED);
    await probe.forget({ space: ADA, ids: ["x"] });
    expect(await probe.add(ADA, ["whatever"], OTHER_HASH)).toEqual({ ...first, repeated: true });
    expect(await probe.ids(ADA)).toEqual(["y"]);
  });

  check("keeps the hash when only others' items are forgotten", async (probe) => {
    await probe.add(ADA, [{ id: "a" }], { session: "s", idempotency: { key: "a", hash: "a" } });
    await probe.add(ADA, ["mine"], KEYED);
    await probe.add(BOB, ["his"], { session: "s" });
    await probe.add(ADA, [{ id: "z" }], { session: "s" });
    await probe.forget({ space: ADA, ids: ["a", "z"] });
    await probe.forget({ space: BOB, entry: true });
    await probe.fails("conflict", probe.adding(ADA, ["other"], OTHER_HASH));
  });
}
