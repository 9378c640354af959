/** Promotion: deliberate copies into another space, logged there, and how forgets report them. */
import { expect } from "vitest";
import type { SpaceRef } from "../../types.js";
import type { Check, CheckPersistent } from "./check.js";
import { FactProbe } from "./fact-probe.js";
import { ADA, BOB, DAY, type DoneOf, SECOND, START } from "./probe.js";

const CREW: SpaceRef = { team: "crew" };

export function promotions(check: Check, checkPersistent: CheckPersistent): void {
  const checkFacts = (title: string, body: (ada: FactProbe, crew: FactProbe) => Promise<void>) =>
    check(title, (probe) => body(new FactProbe(probe, ADA), new FactProbe(probe, CREW)));

  checkFacts("copies an item unchanged, except for its session and agent", async (ada, crew) => {
    const { probe } = ada;
    const full = {
      id: "m",
      name: "Ann",
      content: "the lamp",
      parts: [{ type: "text", text: "the lamp" }],
      metadata: { color: "red" },
      occurredAt: 1000,
    };
    await probe.add(ADA, [full, { id: "other" }], { session: "s", agent: "tutor" });
    probe.now = START + SECOND;
    const how = { agent: "clerk", actor: "Bo", reason: "all need it" };
    await probe.grows([CREW], () => ada.promote(["m"], CREW, how));
    const { session, sessionId, sequence, round, agent, ...original } = await probe.item(ADA, "m");
    expect([session, sequence, round, agent].concat(sessionId)).not.toContain(undefined);
    const times = { recordedAt: probe.now, updatedAt: probe.now };
    expect(await probe.get(CREW, "m")).toStrictEqual([{ ...original, space: CREW, agent: "clerk", ...times }]);
    expect(await probe.found(CREW, "lamp")).toEqual(["m"]);
    expect(await probe.names("agent")).toEqual(["clerk", "tutor"]);
    expect(await crew.promotions()).toEqual([
      { id: "m", from: ADA, to: CREW, actor: "Bo", reason: "all need it", at: probe.now },
    ]);
    expect(await ada.promotions()).toEqual([]);
  });

  checkFacts("copies all of them or none", async (ada, crew) => {
    const { probe } = ada;
    await probe.add(ADA, [{ id: "a" }, { id: "b" }, { id: "old", expiresAt: START + SECOND }]);
    await probe.add(BOB, [{ id: "his" }]);
    await ada.put("ended");
    await ada.end("ended");
    probe.now = START + SECOND;
    for (const missing of ["nobody", "his", "old", "ended"]) {
      const error = await probe.fails("not_found", ada.promoting(["a", missing, "b"], CREW));
      expect(error.details).toMatchObject({ id: missing });
    }
    const noone = new FactProbe(probe, { user: "noone" });
    await probe.fails("not_found", noone.promoting(["a"], CREW));
    expect(await probe.names("team")).toEqual([]);
    expect(await crew.promotions()).toEqual([]);
    await probe.fails("invalid_input", ada.promoting(["a"], ADA));
    expect(await ada.promotions()).toEqual([]);
    expect(await probe.unit(ada.promoting(["b", "a", "b"], CREW))).toEqual([{ op: "promote", ids: ["b", "a"] }]);
    expect(await probe.ids(CREW)).toEqual(["b", "a"]);
    expect((await crew.promotions()).map(({ id }) => id)).toEqual(["a", "b"]);
  });

  checkFacts("is the same copy if the target already has it, and a conflict if it has another", async (ada, crew) => {
    const { probe } = ada;
    await probe.add(ADA, [{ id: "a", content: "lamp" }, { id: "b" }]);
    await ada.promote(["a"], CREW);
    probe.now += SECOND;
    await ada.promote(["a"], CREW, { reason: "again" });
    expect(await probe.item(CREW, "a")).toMatchObject({ version: 1, recordedAt: START });
    expect((await crew.promotions()).map(({ reason }) => reason)).toEqual(["again", "of use to all"]);
    await probe.update(ADA, "a", { content: "new lamp", parts: null });
    const error = await probe.fails("conflict", ada.promoting(["b", "a"], CREW));
    expect(error.details).toMatchObject({ id: "a" });
    expect(await probe.contents(CREW)).toEqual(["lamp"]);
    expect(await crew.promotions()).toHaveLength(2);
  });

  checkFacts("records a fact in the target as a fact, with the host as its source", async (ada, crew) => {
    const { probe } = ada;
    await probe.add(ADA, [{ id: "m" }], { session: "s" });
    await ada.put("porto", { from: 10, confidence: 0.8, source: { message: "m" } });
    await ada.promote(["porto"], CREW, { agent: "clerk" });
    expect(await crew.query()).toMatchObject([
      { id: "porto", space: CREW, confidence: 0.8, spans: [{ from: 10 }], sources: [{}], state: "holds", version: 1 },
    ]);
    expect(await probe.item(CREW, "porto")).toMatchObject({ kind: "fact", occurredAt: 10, agent: "clerk" });
    expect(await probe.forget({ space: ADA, ids: ["m"] })).toMatchObject({ items: 2 });
    expect(await crew.ids()).toEqual(["porto"]);
  });

  checkFacts(
    "meets a fact of the target as a put would, but neither another text nor a retraction",
    async (ada, crew) => {
      const { probe } = ada;
      await ada.put("porto", { from: 10 });
      await crew.put("porto", { from: 50, source: { session: "s" } });
      await ada.promote(["porto"], CREW);
      expect(await crew.fact("porto")).toMatchObject({ sources: [{ session: "s" }, {}], spans: [{ from: 10 }] });
      await crew.end("porto", 60);
      await ada.promote(["porto"], CREW);
      expect(await crew.fact("porto")).toMatchObject({ spans: [{ from: 10, to: 60 }, { from: 60 }] });
      await crew.end("porto", 70, "retracted");
      await probe.fails("conflict", ada.promoting(["porto"], CREW));
      await ada.put("rome", { content: "hers" });
      await crew.put("rome", { content: "theirs" });
      await crew.end("rome");
      await probe.fails("conflict", ada.promoting(["rome"], CREW));
      await probe.add(CREW, [{ id: "oslo" }]);
      await ada.put("oslo");
      await probe.fails("conflict", ada.promoting(["oslo"], CREW));
      await probe.add(ADA, [{ id: "plain" }]);
      await crew.put("plain");
      await crew.end("plain");
      await probe.fails("conflict", ada.promoting(["plain"], CREW));
      expect(await crew.promotions()).toHaveLength(2);
    },
  );

  checkFacts("pages its log, newest first", async (ada, crew) => {
    const { probe } = ada;
    await probe.add(ADA, [{ id: "a" }, { id: "b" }, { id: "c" }]);
    await ada.promote(["a", "b", "c"], CREW);
    const first = await probe.store.promotions({ space: CREW, limit: 2 });
    expect(first.items.map(({ id }) => id)).toEqual(["c", "b"]);
    await ada.promote(["a"], CREW);
    const second = await probe.store.promotions({ space: CREW, limit: 2, cursor: first.next as string });
    expect(second).toMatchObject({ items: [{ id: "a" }] });
    expect(second.next).toBeUndefined();
    await expect(crew.promotions({ cursor: "nonsense" })).rejects.toMatchObject({ code: "invalid_input" });
    expect(await crew.promotions({ space: { team: "none" } })).toEqual([]);
  });

  checkFacts("reports how many copies of a forgotten original remain", async (ada, crew) => {
    const { probe } = ada;
    await probe.add(ADA, [{ id: "a" }, { id: "b" }, { id: "c" }]);
    await ada.put("fact");
    await ada.promote(["a", "b", "fact"], CREW);
    await ada.promote(["a"], CREW);
    await ada.promote(["a"], BOB);
    await ada.end("fact");
    await crew.end("fact");
    expect(await ada.forgetIds("a", "c")).toMatchObject({ items: 2, copiesLeft: 2 });
    expect(await ada.forgetIds("fact"), "a fact that has ended is still there").toMatchObject({
      facts: 1,
      copiesLeft: 1,
    });
    expect(await crew.forgetIds("b")).toMatchObject({ items: 1, copiesLeft: 0 });
    expect(await ada.forgetIds("b"), "its copy is gone").toMatchObject({ items: 1, copiesLeft: 0 });
    await probe.add(ADA, [{ id: "a", content: "another" }]);
    expect(await ada.forgetIds("a"), "that was another one").toMatchObject({ items: 1, copiesLeft: 0 });
    expect(await probe.ids(CREW)).toEqual(["a"]);
    expect(await crew.promotions(), "the log stays").toHaveLength(4);
  });

  checkFacts(
    "counts copies of copies, of whole spaces, and none that are removed in the same slice",
    async (ada, crew) => {
      const { probe } = ada;
      const soon = START + SECOND;
      await probe.add(ADA, [{ id: "a" }, { id: "brief", expiresAt: soon }]);
      await ada.promote(["a", "brief"], CREW);
      await crew.promote(["a"], BOB);
      probe.now = soon;
      const [swept] = await probe.unit({ op: "forget", target: { expired: true } });
      const { items, copiesLeft } = swept as DoneOf<"forget">;
      expect(items === 2 ? copiesLeft : 0, "unless the slice has ended between the two").toBe(0);
      await ada.forget({ expired: true });
      expect(await crew.forgetIds("a")).toMatchObject({ items: 1, copiesLeft: 1 });
      await ada.promote(["a"], BOB);
      expect(await ada.forget({ space: ADA, entry: true })).toMatchObject({ items: 1, copiesLeft: 1, entries: 1 });
    },
  );

  checkFacts("keeps its log with the target space, under its current names", async (ada, crew) => {
    const { probe } = ada;
    await probe.add(ADA, [{ id: "a" }]);
    await probe.add(BOB, [{ id: "b" }]);
    await ada.promote(["a"], CREW);
    await new FactProbe(probe, BOB).promote(["b"], CREW);
    await probe.amend({ kind: "user", name: "ada" }, { name: "lovelace" });
    await ada.forget({ space: BOB, entry: true });
    const [fromBob, fromAda] = await crew.promotions();
    expect(fromBob).not.toHaveProperty("from");
    expect(fromAda?.from).toEqual({ user: "lovelace" });
    await probe.add(BOB, [{ id: "new" }]);
    expect((await crew.promotions())[0], "another Bob").not.toHaveProperty("from");
    await crew.forget({ space: CREW, entry: false });
    expect(await crew.promotions()).toHaveLength(2);
    await crew.forget({ space: CREW, entry: true });
    await probe.add(CREW, [{ id: "new" }]);
    expect(await crew.promotions()).toEqual([]);
  });

  checkPersistent("finds its log after close and open", async (probe, reopen) => {
    const ada = new FactProbe(probe, ADA);
    await probe.add(ADA, [{ id: "a" }]);
    await ada.promote(["a"], CREW, { actor: "Bo" });
    probe.now += DAY;
    const before = await ada.promotions({ space: CREW });
    expect(before).toHaveLength(1);
    await probe.store.close();
    const second = new FactProbe(probe.on(await reopen()), ADA);
    try {
      expect(await second.promotions({ space: CREW })).toEqual(before);
      expect(await second.forgetIds("a")).toMatchObject({ items: 1, copiesLeft: 1 });
    } finally {
      await second.probe.store.close();
    }
  });
}
